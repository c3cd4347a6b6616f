using System.CommandLine;
using Heartbeat.Options;

namespace Heartbeat.Runs;

/// <summary>The options of a command that looks at one load.</summary>
public sealed class LoadChoice(LoadLevel load)
{
    private readonly Option<LoadLevel> _load = new("--load") { Description = "low, middle or high: 50, 65 or 80 percent of the baseline's peak.", DefaultValueFactory = _ => load };
    private readonly Option<double> _blocking = new("--blocking") { Description = "Percent of the requests that block their thread.", DefaultValueFactory = _ => 0 };

    /// <summary>Both.</summary>
    public IReadOnlyList<Option> Options => [_load, _blocking];

    /// <summary>The first thing wrong; null when all is fine.</summary>
    public string? FindError(ParseResult parsed) =>
        Blocking(parsed) is >= 0 and <= 100 ? null : $"--blocking must be 0 to 100 percent, not {Blocking(parsed)}.";

    /// <summary>Percent of the requests that block.</summary>
    public double Blocking(ParseResult parsed) => parsed.GetValue(_blocking);

    /// <summary>Requests per second, after a search for the peak when none was given.</summary>
    public Task<double> RateAsync(ParseResult parsed, CellRunner runner) => new Peaks(runner).RateAsync(parsed.GetValue(_load), Blocking(parsed));
}
