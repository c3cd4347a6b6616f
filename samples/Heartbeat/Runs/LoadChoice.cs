using System.CommandLine;
using Heartbeat.Options;

namespace Heartbeat.Runs;

/// <summary>The options of a command that looks at one load.</summary>
public sealed class LoadChoice(LoadLevel load)
{
    private readonly Option<LoadLevel> _load = new("--load") { Description = "low, middle or high: 50, 65 or 80 percent of the baseline's peak.", DefaultValueFactory = _ => load };
    private readonly WorkChoice _work = new();

    /// <summary>All of them.</summary>
    public IReadOnlyList<Option> Options => [_load, .. _work.Options];

    /// <summary>The first thing wrong; null when all is fine.</summary>
    public string? FindError(ParseResult parsed) => _work.FindError(parsed);

    /// <summary>A cell with such requests.</summary>
    public CellOptions Cell(ParseResult parsed) => _work.Cell(parsed);

    /// <summary>Requests per second, after a search for the peak when none was given.</summary>
    public Task<double> RateAsync(ParseResult parsed, CellRunner runner) => _work.RateAsync(parsed, runner, parsed.GetValue(_load));
}
