using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>What one silo remembers of a silo that it probes.</summary>
internal sealed class ProbedSilo(SiloAddress silo)
{
    /// <summary>The silo.</summary>
    public SiloAddress Silo { get; } = silo;

    /// <summary>When the next probe is due.</summary>
    public long Due { get; set; }

    /// <summary>The probe on its way, 0 for none.</summary>
    public long Outstanding { get; set; }

    /// <summary>When it was sent.</summary>
    public long SentAt { get; set; }

    /// <summary>Missed in a row.</summary>
    public int Misses { get; set; }

    /// <summary>Whether every failure since the last answer was a refusal.</summary>
    public bool Refused { get; set; }

    /// <summary>The indirect probe on its way, 0 for none.</summary>
    public long Indirect { get; set; }

    /// <summary>When it was sent.</summary>
    public long IndirectSentAt { get; set; }

    /// <summary>Indirect probes sent since the last answer; chooses the next silo to ask.</summary>
    public int IndirectTries { get; set; }

    /// <summary>The silo answered: all doubt is gone.</summary>
    public void Alive()
    {
        Outstanding = 0;
        Misses = 0;
        Refused = false;
        Indirect = 0;
        IndirectTries = 0;
    }
}
