using System.Globalization;

namespace ActOp.Testing.Simulated;

/// <summary>Which of the faults that a seed draws happen, and which commands of the test run.</summary>
/// <param name="Faults">The names of the faults that may happen; null for all.</param>
/// <param name="Commands">The numbers of the commands that run; null for all.</param>
internal sealed record RunPlan(IReadOnlySet<string>? Faults, IReadOnlySet<int>? Commands)
{
    private const string FaultMark = "faults";
    private const string CommandMark = "commands";

    internal static RunPlan All { get; } = new(null, null);

    internal bool Permits(string fault) => Faults?.Contains(fault) != false;

    internal bool Runs(int command) => Commands?.Contains(command) != false;

    /// <summary>Reads what <see cref="ToString"/> has written: <c>faults w3 c12; commands 0 4</c>.</summary>
    /// <exception cref="FormatException">It has another form.</exception>
    internal static RunPlan Parse(string? text)
    {
        var plan = All;
        foreach (var part in (text ?? "").Split(';', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
        {
            var words = part.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            plan = words[0] switch
            {
                FaultMark => plan with { Faults = words.Skip(1).ToHashSet() },
                CommandMark when words.Skip(1).All(static word => int.TryParse(word, CultureInfo.InvariantCulture, out _)) =>
                    plan with { Commands = words.Skip(1).Select(static word => int.Parse(word, CultureInfo.InvariantCulture)).ToHashSet() },
                _ => throw new FormatException("\"" + text + "\" is no plan of a simulation. Copy it from the message of the failure, "
                    + "like \"" + FaultMark + " w3 c12; " + CommandMark + " 0 4\", or pass null for all faults and commands."),
            };
        }

        return plan;
    }

    public override string ToString()
    {
        var parts = new List<string>();
        if (Faults is not null)
            parts.Add(FaultMark + string.Concat(Faults.Order(StringComparer.Ordinal).Select(static fault => " " + fault)));
        if (Commands is not null)
        {
            parts.Add(CommandMark + string.Concat(Commands.Order().Select(static command =>
                " " + command.ToString(CultureInfo.InvariantCulture))));
        }

        return string.Join("; ", parts);
    }
}
