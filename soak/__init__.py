"""An endurance test: random work for an hour; memory must stay constant and no resource may leak."""
