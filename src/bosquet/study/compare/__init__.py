"""Comparison of methods: intervals, ranking, verdict, choice, the leaderboard."""
