"""An endurance test: random work for an hour, with flat memory and nothing left behind."""
