using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using Spectre.Console;

namespace ActOp.Tool;

/// <summary>Where a command prints: answers to the output, failures to the errors.</summary>
/// <param name="Out">For answers.</param>
/// <param name="Errors">For failures.</param>
/// <param name="Width">Columns of a line.</param>
internal sealed record ToolOutput(TextWriter Out, TextWriter Errors, int Width)
{
    /// <summary>Of output that nobody looks at directly: no table is cut.</summary>
    internal const int RedirectedWidth = 220;

    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web)
    {
        WriteIndented = true,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        Converters = { new JsonStringEnumConverter() },
    };

    /// <summary>Prints an answer: as one JSON value for programs, or lines and a table for people.</summary>
    internal int Print(Answer answer, bool isJson)
    {
        if (isJson || answer.IsDocument)
        {
            Out.WriteLine(JsonSerializer.Serialize(answer.Value, Json));
            return answer.ExitCode;
        }

        foreach (var line in answer.Lines)
            Out.WriteLine(line);
        if (answer.Table is { } table)
            Print(table);
        return answer.ExitCode;
    }

    /// <summary>Prints a failure. A program that reads JSON gets it as JSON, too.</summary>
    internal int Print(ToolException failure, bool isJson)
    {
        Errors.WriteLine(failure.Message);
        if (isJson)
            Out.WriteLine(JsonSerializer.Serialize(new { error = failure.Message, failure.ExitCode }, Json));
        return failure.ExitCode;
    }

    private void Print(TextTable text)
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(Out), Ansi = AnsiSupport.No });
        console.Profile.Width = Width;
        var table = new Table().RoundedBorder();
        foreach (var title in text.Titles)
        {
            table.AddColumn(new TableColumn(Markup.Escape(title.TrimStart('>')))
            {
                Alignment = title[0] == '>' ? Justify.Right : Justify.Left,
            });
        }

        foreach (var row in text.Rows)
            table.AddRow([.. row.Select(Markup.Escape)]);
        console.Write(table);
    }
}

/// <summary>What a command has found.</summary>
/// <param name="ExitCode">A value of <see cref="Tool.ExitCode"/>.</param>
/// <param name="Value">For programs.</param>
/// <param name="Lines">For people.</param>
/// <param name="Table">For people, below the lines.</param>
/// <param name="IsDocument">The value is what people want, too.</param>
internal sealed record Answer(
    int ExitCode, object Value, IReadOnlyList<string> Lines, TextTable? Table = null, bool IsDocument = false);

/// <summary>A table of texts.</summary>
/// <param name="Titles">Of the columns. One that begins with a greater-than sign is a column of numbers, which stand on the right.</param>
/// <param name="Rows">As many texts each as there are titles.</param>
internal sealed record TextTable(IReadOnlyList<string> Titles, IEnumerable<IReadOnlyList<string>> Rows);
