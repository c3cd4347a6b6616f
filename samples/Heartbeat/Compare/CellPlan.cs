using Heartbeat.Options;

namespace Heartbeat.Compare;

/// <summary>
/// The order of the cells: all allocations of one load in a row, beginning with another one every time, so that a drift of the machine hits
/// all alike.
/// </summary>
public static class CellPlan
{
    /// <summary>Every combination, <paramref name="repeats"/> times.</summary>
    public static IReadOnlyList<PlannedCell> Build(IReadOnlyList<Allocation> allocations, IReadOnlyList<LoadLevel> loads, IReadOnlyList<double> blocking, int repeats)
    {
        var cells = new List<PlannedCell>();
        int turn = 0;
        for (int repeat = 1; repeat <= repeats; repeat++)
        {
            foreach (double percent in blocking)
            {
                foreach (LoadLevel load in loads)
                {
                    for (int i = 0; i < allocations.Count; i++)
                        cells.Add(new PlannedCell(repeat, percent, load, allocations[(i + turn) % allocations.Count]));
                    turn++;
                }
            }
        }
        return cells;
    }
}
