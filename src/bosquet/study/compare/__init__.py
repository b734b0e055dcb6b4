"""Comparison of methods: intervals, ranking, verdict, choice, leaderboard, test table."""
