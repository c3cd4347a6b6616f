using System.CommandLine;
using System.Globalization;

namespace ActOp.Harness.Options;

/// <summary>The command line of an experiment: one row per parameter, read into and printed from <typeparamref name="TOptions"/>.</summary>
public abstract class OptionTable<TOptions>
    where TOptions : new()
{
    private readonly List<Row> _rows = [];

    /// <summary>Adds every option to <paramref name="command"/>.</summary>
    public void AddTo(Command command)
    {
        foreach (var row in _rows)
            command.Options.Add(row.Option);
    }

    /// <summary>Reads the options that were given, the defaults for the rest.</summary>
    public TOptions Read(ParseResult parsed)
    {
        var options = new TOptions();
        foreach (var row in _rows)
            options = row.Read(parsed, options);
        return options;
    }

    /// <summary>The arguments that make a child process read the same options.</summary>
    public IEnumerable<string> Print(TOptions options)
    {
        foreach (var row in _rows)
        {
            yield return row.Option.Name;
            yield return row.Print(options);
        }
    }

    /// <summary>Adds a row: its name, what it says, its default, and how options give and take it.</summary>
    protected void Add<T>(string name, string text, T value, Func<TOptions, T> get, Func<TOptions, T, TOptions> set)
    {
        var option = new Option<T>(name) { Description = text, DefaultValueFactory = _ => value };
        _rows.Add(new Row(
            option,
            (parsed, options) => set(options, parsed.GetValue(option)!),
            options => Convert.ToString(get(options), CultureInfo.InvariantCulture)!));
    }

    private sealed record Row(Option Option, Func<ParseResult, TOptions, TOptions> Read, Func<TOptions, string> Print);
}

/// <summary>Runs a command's work and turns what may go wrong into a message and an exit code.</summary>
public static class CommandRun
{
    /// <summary>
    /// Returns 2 for a wrong option, 1 for a run that failed, 130 when it was stopped, else what <paramref name="work"/> returns.
    /// </summary>
    public static async Task<int> RunAsync(string? wrongOption, Func<Task<int>> work)
    {
        if (wrongOption is not null)
        {
            Console.Error.WriteLine(wrongOption);
            return 2;
        }
        try
        {
            return await work().ConfigureAwait(false);
        }
        catch (Exception failure) when (failure is InvalidOperationException or TimeoutException)
        {
            Console.Error.WriteLine(failure.Message);
            return 1;
        }
        catch (OperationCanceledException)
        {
            Console.Error.WriteLine("Stopped; the child processes have ended.");
            return 130;
        }
    }
}
