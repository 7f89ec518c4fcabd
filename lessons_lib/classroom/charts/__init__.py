"""Charts: each takes a result and draws it; none computes, none knows a widget."""

from lessons_lib.classroom.charts.burst import BurstChart
from lessons_lib.classroom.charts.burst_rows import BurstRows
from lessons_lib.classroom.charts.deliveries import DeliveriesChart, DeliveriesPair
from lessons_lib.classroom.charts.lines import LinesChart
from lessons_lib.classroom.charts.outage import OutageChart
from lessons_lib.classroom.charts.replay import ReplayChart
from lessons_lib.classroom.charts.schedules import ScheduleChart
from lessons_lib.classroom.charts.two_budgets import TwoBudgetsChart
from lessons_lib.classroom.charts.who_holds import WhoHoldsChart, WhoHoldsRows

__all__ = [
    "BurstChart",
    "BurstRows",
    "DeliveriesChart",
    "DeliveriesPair",
    "LinesChart",
    "OutageChart",
    "ReplayChart",
    "ScheduleChart",
    "TwoBudgetsChart",
    "WhoHoldsChart",
    "WhoHoldsRows",
]
