"""The page of risk: overview, scenarios, people, special uniques, places, after treatment."""
