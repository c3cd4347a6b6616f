using Spectre.Console;

namespace HaloPresence.Results;

/// <summary>Prints the comparison as a table.</summary>
public static class ResultTable
{
    /// <summary>Prints to <paramref name="console"/>.</summary>
    public static void Print(IAnsiConsole console, IReadOnlyList<RunResult> runs)
    {
        Table table = new Table().RoundedBorder();
        foreach (string title in Comparison.Titles(runs))
            table.AddColumn(new TableColumn(Markup.Escape(title)).RightAligned());
        table.Columns[0].LeftAligned();
        foreach (string[] row in Comparison.Rows(runs))
            table.AddRow([.. row.Select(Markup.Escape)]);
        console.Write(table);
        foreach (RunResult run in runs)
        {
            foreach (string text in run.ErrorTexts)
                console.WriteLine($"{run.Optimize}: {text}");
        }
    }
}
