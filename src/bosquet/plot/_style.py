"""Colours that every picture shares."""

BLUE, ORANGE, GREY = "#3b6ea5", "#d9822b", "#8a8a8a"
