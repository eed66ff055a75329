"""Reading a candidate's reply as calls, in every style that models write them; nothing in a reply is ever run."""
