"""What the page shows: frozen answers of the operations of the workbench, standard library only."""
