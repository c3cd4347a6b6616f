using System.CommandLine;
using System.Text.Json;
using Harness.Children;

namespace Harness.Options;

/// <summary>Where a command writes its results: <c>--json</c> and <c>--html</c>.</summary>
public sealed class OutputOptions
{
    private readonly Option<string?> _json;
    private readonly Option<string?> _html;

    /// <summary>Adds the options to <paramref name="command"/>; without a default nothing is written unless asked for.</summary>
    public OutputOptions(Command command, string? json, string? html)
    {
        _json = new Option<string?>("--json") { Description = "File for the results as JSON.", DefaultValueFactory = _ => json };
        _html = new Option<string?>("--html") { Description = "File for the report with charts.", DefaultValueFactory = _ => html };
        command.Options.Add(_json);
        command.Options.Add(_html);
    }

    /// <summary>Writes the files that were asked for.</summary>
    public void Write<T>(ParseResult parsed, T results, Func<string> render)
    {
        if (parsed.GetValue(_json) is { } json)
        {
            File.WriteAllText(json, JsonSerializer.Serialize(results, JsonLines.File));
            Console.WriteLine($"JSON: {Path.GetFullPath(json)}");
        }
        if (parsed.GetValue(_html) is { } html)
        {
            File.WriteAllText(html, render());
            Console.WriteLine($"Report: {Path.GetFullPath(html)}");
        }
    }
}
