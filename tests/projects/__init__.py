"""Small projects for the tests, each made by the real operations; nobody in them exists.

Every module that makes a project has the same functions, as far as its tests need them:

    write_source(...)                   the raw file
    make_project(folder, ...)           a described project in `folder`, its source beside it; nothing is planned yet
    add_people(folder, ...)             its people, each with a key of their own outside the project
    answer_request(folder, ...)         its request
    run_to_candidate(folder, ...)       approved, planned and run

    survey             a survey of 120 people for MINSAL or ATENEA, with a planted name: the smallest and fastest
    discharges         synthetic hospital discharges for MINSAL, up to what a release needs
    household_survey   a household survey for MEL, in areas whose sizes are known
    given_rows         rows, roles and a policy that the test itself writes
    every_page         a project of each norm with something on every page of the browser
    search_tables      tables on an engine, searched without a project's folder: for laws
    attack_files       files with an attack planted in them, and the same files without it

`steps` has what they share: the clock, the passphrase, edits of the dictionary and the settings, keys.
"""
