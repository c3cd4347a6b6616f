namespace ActOp.Runtime.Directory;

/// <summary>One silo's answer to a slot request while its parts come in.</summary>
internal sealed class SlotAnswer(int attempt, int parts)
{
    private readonly bool[] _seen = new bool[parts];

    /// <summary>The attempt it answers.</summary>
    public int Attempt { get; } = attempt;

    /// <summary>Registrations so far.</summary>
    public List<Registration> Entries { get; } = [];

    /// <summary>Leases so far.</summary>
    public List<SlotLease> Leases { get; } = [];

    /// <summary>Slots that the old owner did not hold.</summary>
    public SlotSet? Missing { get; private set; }

    /// <summary>Whether all parts are here.</summary>
    public bool IsComplete => !_seen.AsSpan().Contains(false);

    /// <summary>Takes a part unless it came before.</summary>
    public void Take(SlotReply part)
    {
        if (part.Parts == _seen.Length && (uint)part.Part < (uint)_seen.Length && !_seen[part.Part])
        {
            _seen[part.Part] = true;
            Entries.AddRange(part.Entries);
            Leases.AddRange(part.Leases);
            Missing ??= part.Missing;
        }
    }
}
