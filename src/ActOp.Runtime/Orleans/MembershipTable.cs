using System.Globalization;
using Orleans.Runtime;

namespace Orleans;

/// <summary>One silo in the membership table.</summary>
[GenerateSerializer]
public sealed class MembershipEntry : ISpanFormattable
{
    /// <summary>Its address.</summary>
    [Id(0)]
    public SiloAddress SiloAddress { get; set; } = null!;

    /// <summary>Its status.</summary>
    [Id(1)]
    public SiloStatus Status { get; set; }

    /// <summary>Who suspects it, and since when.</summary>
    [Id(2)]
    public List<Tuple<SiloAddress, DateTime>>? SuspectTimes { get; set; }

    /// <summary>The port for clients; 0 for none.</summary>
    [Id(3)]
    public int ProxyPort { get; set; }

    /// <summary>The name of its machine.</summary>
    [Id(4)]
    public string HostName { get; set; } = "";

    /// <summary>Its name.</summary>
    [Id(5)]
    public string SiloName { get; set; } = "";

    /// <summary>Its role, the name without a number.</summary>
    [Id(6)]
    public string? RoleName { get; set; }

    /// <summary>Not used.</summary>
    [Id(7)]
    public int UpdateZone { get; set; }

    /// <summary>Not used.</summary>
    [Id(8)]
    public int FaultZone { get; set; }

    /// <summary>When it started.</summary>
    [Id(9)]
    public DateTime StartTime { get; set; }

    /// <summary>When it last said that it lives.</summary>
    [Id(10)]
    public DateTime IAmAliveTime { get; set; }

    /// <summary>Adds a suspicion.</summary>
    public void AddSuspector(SiloAddress suspectingSilo, DateTime suspectingTime) =>
        (SuspectTimes ??= []).Add(Tuple.Create(suspectingSilo, suspectingTime));

    /// <summary>Adds a suspicion or renews that of the same silo; the oldest goes when there are more than <paramref
    /// name="maxVotes"/>.</summary>
    public void AddOrUpdateSuspector(SiloAddress localSilo, DateTime voteTime, int maxVotes)
    {
        SuspectTimes ??= [];
        SuspectTimes.RemoveAll(vote => vote.Item1.Equals(localSilo));
        while (SuspectTimes.Count >= maxVotes && SuspectTimes.MinBy(static vote => vote.Item2) is { } oldest)
            SuspectTimes.Remove(oldest);
        SuspectTimes.Add(Tuple.Create(localSilo, voteTime));
    }

    /// <inheritdoc/>
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"SiloAddress={SiloAddress} SiloName={SiloName} Status={Status}");

    /// <summary>All values for people.</summary>
    public string ToFullString() => string.Create(CultureInfo.InvariantCulture,
        $"{this} HostName={HostName} ProxyPort={ProxyPort} RoleName={RoleName} StartTime={StartTime:u} IAmAliveTime={IAmAliveTime:u} Suspecters=[{string.Join(", ", SuspectTimes?.Select(static vote => vote.Item1) ?? [])}]");

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        destination.TryWrite(CultureInfo.InvariantCulture, $"{ToString()}", out charsWritten);
}

/// <summary>Tells whether a grain is active on this silo.</summary>
public interface ILocalActivationStatusChecker
{
    /// <summary>Whether this silo has an activation of the grain.</summary>
    bool IsLocallyActivated(GrainId grainId);
}
