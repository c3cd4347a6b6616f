using Orleans.Runtime;

namespace ActOp.Runtime.Directory;

/// <summary>A request for slots on its way: one old owner, or all silos when the old owner was lost.</summary>
internal sealed class SlotTransfer(long id, SiloAddress? source, SlotSet slots)
{
    private readonly Dictionary<SiloAddress, SlotAnswer?> _awaited = [];

    /// <summary>The request's number.</summary>
    public long Id { get; } = id;

    /// <summary>Who hands over; null when every silo is asked for its activations.</summary>
    public SiloAddress? Source { get; } = source;

    /// <summary>Whether every silo is asked for its activations.</summary>
    public bool Recovery => Source is null;

    /// <summary>The slots.</summary>
    public SlotSet Slots { get; } = slots;

    /// <summary>What complete answers brought.</summary>
    public List<Registration> Entries { get; } = [];

    /// <summary>Leases that complete answers brought.</summary>
    public List<SlotLease> Leases { get; } = [];

    /// <summary>Slots that the old owner did not hold.</summary>
    public SlotSet? Missing { get; private set; }

    /// <summary>How often it was sent.</summary>
    public int Attempt { get; set; }

    /// <summary>When to send it again.</summary>
    public long ResendAt { get; set; }

    /// <summary>Silos that have not answered in full.</summary>
    public IReadOnlyCollection<SiloAddress> Awaited => _awaited.Keys;

    /// <summary>Expects an answer of this silo.</summary>
    public void Await(SiloAddress silo) => _awaited[silo] = null;

    /// <summary>
    /// Takes one part of an answer. A newer attempt's answer starts anew: what a silo reports may differ between attempts.
    /// </summary>
    public void Take(SlotReply reply)
    {
        if (!_awaited.TryGetValue(reply.From, out var answer) || reply.Parts <= 0 || answer?.Attempt > reply.Attempt)
        {
            return;
        }

        if (answer is null || answer.Attempt < reply.Attempt)
        {
            answer = new SlotAnswer(reply.Attempt, reply.Parts);
            _awaited[reply.From] = answer;
        }

        answer.Take(reply);
        if (answer.IsComplete)
        {
            _awaited.Remove(reply.From);
            Entries.AddRange(answer.Entries);
            Leases.AddRange(answer.Leases);
            Missing ??= answer.Missing;
        }
    }
}
