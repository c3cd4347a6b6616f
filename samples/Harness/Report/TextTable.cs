using Spectre.Console;

namespace Harness.Report;

/// <summary>Prints a table of texts: the first column to the left, numbers to the right.</summary>
public static class TextTable
{
    private const int RedirectedWidth = 220;

    /// <summary>Prints to the console; redirected output is wide enough for any of our tables.</summary>
    public static void Print(IReadOnlyList<string> titles, IEnumerable<IReadOnlyList<string>> rows)
    {
        if (Console.IsOutputRedirected)
            AnsiConsole.Profile.Width = RedirectedWidth;
        Table table = new Table().RoundedBorder();
        foreach (string title in titles)
            table.AddColumn(new TableColumn(Markup.Escape(title)).RightAligned());
        table.Columns[0].LeftAligned();
        foreach (IReadOnlyList<string> row in rows)
            table.AddRow([.. row.Select(Markup.Escape)]);
        AnsiConsole.Write(table);
    }
}
