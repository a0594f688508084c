// Sends the chosen file as the body of a PUT and tells the page its ticket. No value of a file is looked at here.
(function () {
  "use strict";

  function send(input) {
    const file = input.files && input.files[0];
    if (!file) return;
    const event = input.dataset.event;
    const progress = document.getElementById(input.dataset.progress);
    const request = new XMLHttpRequest();
    request.open("PUT", "/upload");
    request.setRequestHeader("X-Celosia-Csrf", input.dataset.csrf);
    request.setRequestHeader("X-Celosia-Name", encodeURIComponent(file.name));
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = (moment) => {
      if (progress && moment.lengthComputable) progress.value = moment.loaded / moment.total;
    };
    const tell = (answer) => {
      if (progress) progress.hidden = true;
      input.value = "";
      emitEvent(event, answer);
    };
    request.onload = () => {
      let answer = {};
      try {
        answer = JSON.parse(request.responseText);
      } catch (fault) {
        answer = {};
      }
      answer.status = request.status;
      tell(answer);
    };
    request.onerror = () => tell({ status: 0 });
    if (progress) {
      progress.value = 0;
      progress.hidden = false;
    }
    request.send(file);
  }

  document.addEventListener("change", (event) => {
    if (event.target.matches && event.target.matches("input[data-celosia-upload]")) send(event.target);
  });

  // Leaving a field tells its change while the mouse is still down on what was pressed next. The answer may move or
  // replace the pressed button, and the click would be lost: the change waits until the button is let go.
  const PRESSED = "button, a, summary, label, input[type=checkbox]";
  let pressed = false;
  let waiting = [];

  function release() {
    const fields = waiting;
    pressed = false;
    waiting = [];
    fields.forEach((field) => field.dispatchEvent(new Event("change", { bubbles: true })));
  }

  window.addEventListener("pointerdown", (event) => {
    pressed = event.button === 0 && event.target instanceof Element && event.target.closest(PRESSED) !== null;
  }, true);
  window.addEventListener("change", (event) => {
    if (!pressed || !event.isTrusted) return;
    event.stopImmediatePropagation();
    waiting.push(event.target);
  }, true);
  window.addEventListener("pointerup", release, true);
  window.addEventListener("pointercancel", release, true);
  window.addEventListener("blur", release); // of the window: nobody tells where the mouse was let go

  // What was typed and not saved is not lost by a wrong click.
  window.addEventListener("beforeunload", (event) => {
    if (document.querySelector("[data-celosia-unsaved='1']")) event.preventDefault();
  });
})();
