using System.Globalization;

namespace ActOp.Testing.Simulated;

/// <summary>Which of the faults that a seed draws happen, and which commands of the test run.</summary>
/// <param name="Faults">The names of the faults that may happen; null for all.</param>
/// <param name="Commands">The numbers of the commands that run; null for all.</param>
internal sealed record RunPlan(IReadOnlySet<string>? Faults, IReadOnlySet<int>? Commands)
{
    private const string FaultMark = "faults";
    private const string CommandMark = "commands";

    private const string Advice = "Copy it from the message of the failure, like \"" + FaultMark + " w3 c12; " + CommandMark
        + " 0 4\", or pass null for all faults and commands.";

    internal static RunPlan All { get; } = new(null, null);

    /// <summary>Stands between the moment for which a fault was drawn and that at which it happens, in a name like c9@2.</summary>
    internal const char Moved = '@';

    /// <summary>Ends the name of a loss that was not drawn but chosen, like m3!.</summary>
    private const char Chosen = '!';

    private readonly Dictionary<string, string>? _byMoment = Faults?.GroupBy(MomentOf).ToDictionary(
        static group => group.Key, static group => group.First());

    /// <summary>The fault that may happen at a moment; null for none.</summary>
    internal string? At(string moment) => _byMoment is null ? moment : _byMoment.GetValueOrDefault(moment);

    /// <summary>The loss of the message with that number, from 1.</summary>
    internal static string Loss(int message) => "m" + message.ToString(CultureInfo.InvariantCulture) + Chosen;

    /// <summary>The same fault at another moment of its kind.</summary>
    internal static string MovedTo(string fault, int number)
    {
        var moment = fault[..1] + number.ToString(CultureInfo.InvariantCulture);
        return MomentOf(fault) == moment ? fault : IsLoss(fault) ? Loss(number)
            : DrawnFor(fault) == moment ? moment : DrawnFor(fault) + Moved + number.ToString(CultureInfo.InvariantCulture);
    }

    internal static bool IsLoss(string fault) => fault.EndsWith(Chosen);

    /// <summary>The moment for which a fault was drawn: c9 of c9@2.</summary>
    internal static string DrawnFor(string fault) => fault.Split(Moved)[0];

    /// <summary>The moment at which a fault happens: c2 of c9@2.</summary>
    internal static string MomentOf(string fault) =>
        fault.Split(Moved) is [var drawn, var number] ? drawn[..1] + number : fault.TrimEnd(Chosen);

    internal bool Runs(int command) => Commands?.Contains(command) != false;

    /// <summary>Reads what <see cref="ToString"/> has written: <c>faults w3 c12; commands 0 4</c>.</summary>
    /// <exception cref="FormatException">It has another form.</exception>
    internal static RunPlan Parse(string? text)
    {
        IReadOnlySet<string>? faults = null;
        IReadOnlySet<int>? commands = null;
        foreach (var part in (text ?? "").Split(';', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
        {
            var words = part.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (words[0] == FaultMark)
                faults = words.Skip(1).ToHashSet();
            else if (words[0] == CommandMark && words.Skip(1).All(static word => int.TryParse(word, CultureInfo.InvariantCulture, out _)))
                commands = words.Skip(1).Select(static word => int.Parse(word, CultureInfo.InvariantCulture)).ToHashSet();
            else
                throw new FormatException("\"" + text + "\" is no plan of a simulation. " + Advice);
        }

        return new RunPlan(faults, commands);
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
