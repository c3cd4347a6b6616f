using System.CommandLine;
using System.Text.Json;
using ActOp.Harness.Processes;
using Spectre.Console;

namespace ActOp.Harness.Reports;

/// <summary>Where a command writes its results: <c>--json</c> and <c>--html</c>.</summary>
public sealed class OutputOptions
{
    private readonly Option<string?> _json;
    private readonly Option<string?> _html;

    /// <summary>
    /// Adds the options to <paramref name="command"/>. Defaults are names of files in the folder <c>artifacts</c>; without one nothing is
    /// written unless asked for.
    /// </summary>
    public OutputOptions(Command command, string? json, string? html)
    {
        _json = new Option<string?>(
            "--json")
        { Description = "File for the results as JSON.", DefaultValueFactory = _ => ReportFile.InArtifacts(json) };
        _html = new Option<string?>(
            "--html")
        { Description = "File for the report with charts.", DefaultValueFactory = _ => ReportFile.InArtifacts(html) };
        command.Options.Add(_json);
        command.Options.Add(_html);
    }

    /// <summary>Writes the files that were asked for.</summary>
    public void Write<T>(ParseResult parsed, T results, Func<string> render)
    {
        if (parsed.GetValue(_json) is { } json)
        {
            ReportFile.WriteJson(json, results);
            Console.WriteLine($"JSON: {Path.GetFullPath(json)}");
        }
        if (parsed.GetValue(_html) is { } html)
        {
            ReportFile.Write(html, render());
            Console.WriteLine($"Report: {Path.GetFullPath(html)}");
        }
    }
}

/// <summary>Files with results.</summary>
public static class ReportFile
{
    /// <summary>Where a report goes unless told otherwise.</summary>
    public static string? InArtifacts(string? name) => name is null ? null : Path.Combine("artifacts", name);

    /// <summary>Writes a text, and creates its folder when there is none.</summary>
    public static void Write(string path, string text)
    {
        if (Path.GetDirectoryName(path) is { Length: > 0 } folder)
            Directory.CreateDirectory(folder);
        File.WriteAllText(path, text);
    }

    /// <summary>Writes results as JSON for people.</summary>
    public static void WriteJson<T>(string path, T results) => Write(path, JsonSerializer.Serialize(results, JsonLines.File));
}

/// <summary>Prints a table of texts: the first column to the left, numbers to the right.</summary>
public static class TextTable
{
    private const int RedirectedWidth = 220;

    /// <summary>Prints to the console; redirected output is wide enough for any of our tables.</summary>
    public static void Print(IReadOnlyList<string> titles, IEnumerable<IReadOnlyList<string>> rows)
    {
        if (Console.IsOutputRedirected)
            AnsiConsole.Profile.Width = RedirectedWidth;
        var table = new Table().RoundedBorder();
        foreach (var title in titles)
            table.AddColumn(new TableColumn(Markup.Escape(title)).RightAligned());
        table.Columns[0].LeftAligned();
        foreach (var row in rows)
            table.AddRow([.. row.Select(Markup.Escape)]);
        AnsiConsole.Write(table);
    }
}
