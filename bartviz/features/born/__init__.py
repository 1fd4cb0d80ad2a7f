"""How heads are born: a small network learns in the browser, and the page."""
