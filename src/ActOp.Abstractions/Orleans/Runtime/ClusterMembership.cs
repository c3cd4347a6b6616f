using System.Collections.Immutable;
using System.Globalization;

namespace Orleans.Runtime;

/// <summary>The silos of the cluster as this silo knows them. A singleton of each silo and client.</summary>
public interface IClusterMembershipService
{
    /// <summary>What is known now.</summary>
    ClusterMembershipSnapshot CurrentSnapshot { get; }

    /// <summary>
    /// The current snapshot and each later one. A slow reader misses those between. Ends when the node has stopped.
    /// </summary>
    IAsyncEnumerable<ClusterMembershipSnapshot> MembershipUpdates { get; }

    /// <summary>Reads the membership, and waits until this version or a newer one is known.</summary>
    ValueTask Refresh(MembershipVersion minimumVersion = default, CancellationToken cancellationToken = default);

    /// <summary>Declares a silo dead. Returns false if the cluster did not take it.</summary>
    Task<bool> TryKill(SiloAddress siloAddress);
}

/// <summary>Tells of the status of silos, one at a time.</summary>
public interface ISiloStatusOracle
{
    /// <summary>The status of this silo.</summary>
    SiloStatus CurrentStatus { get; }

    /// <summary>The address of this silo.</summary>
    SiloAddress SiloAddress { get; }

    /// <summary>The name of this silo.</summary>
    string SiloName { get; }

    /// <summary>The active silos.</summary>
    SiloAddress[] GetActiveSilos();

    /// <summary>The status of a silo as known here; None if it is not known.</summary>
    SiloStatus GetApproximateSiloStatus(SiloAddress siloAddress);

    /// <summary>The status of all silos, or of the active ones.</summary>
    Dictionary<SiloAddress, SiloStatus> GetApproximateSiloStatuses(bool onlyActive = false);

    /// <summary>The name of a silo; false if it is not known.</summary>
    bool TryGetSiloName(SiloAddress siloAddress, out string? siloName);

    /// <summary>Whether the silo may have entries of the grain directory: it has joined and does not end.</summary>
    bool IsFunctionalDirectory(SiloAddress siloAddress);

    /// <summary>Whether the silo is known to be dead.</summary>
    bool IsDeadSilo(SiloAddress silo);

    /// <summary>Tells the listener of each change from now on; false if it is told already.</summary>
    bool SubscribeToSiloStatusEvents(ISiloStatusListener observer);

    /// <summary>Tells the listener no more; false if it was not told.</summary>
    bool UnSubscribeFromSiloStatusEvents(ISiloStatusListener observer);
}

/// <summary>Is told when the status of a silo changes.</summary>
public interface ISiloStatusListener
{
    /// <summary>The status of a silo has changed. Called on a thread of the pool, one call at a time.</summary>
    void SiloStatusChangeNotification(SiloAddress updatedSilo, SiloStatus status);
}

/// <summary>One silo of a <see cref="ClusterMembershipSnapshot"/>.</summary>
public sealed class ClusterMember : IEquatable<ClusterMember>
{
    /// <summary>Creates the member.</summary>
    public ClusterMember(SiloAddress siloAddress, SiloStatus status, string name)
    {
        ArgumentNullException.ThrowIfNull(siloAddress);
        SiloAddress = siloAddress;
        Status = status;
        Name = name;
    }

    /// <summary>Its address.</summary>
    public SiloAddress SiloAddress { get; }

    /// <summary>Its status.</summary>
    public SiloStatus Status { get; }

    /// <summary>Its name.</summary>
    public string Name { get; }

    /// <inheritdoc/>
    public bool Equals(ClusterMember? other) =>
        other is not null && SiloAddress.Equals(other.SiloAddress) && Status == other.Status && Name == other.Name;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as ClusterMember);

    /// <inheritdoc/>
    public override int GetHashCode() => SiloAddress.GetHashCode();

    /// <inheritdoc/>
    public override string ToString() => SiloAddress + "/" + Name + "/" + Status;
}

/// <summary>The silos of the cluster at one version.</summary>
public sealed class ClusterMembershipSnapshot : ISpanFormattable
{
    /// <summary>Creates the snapshot.</summary>
    public ClusterMembershipSnapshot(ImmutableDictionary<SiloAddress, ClusterMember> members, MembershipVersion version)
    {
        ArgumentNullException.ThrowIfNull(members);
        Members = members;
        Version = version;
    }

    /// <summary>All known silos, dead ones included.</summary>
    public ImmutableDictionary<SiloAddress, ClusterMember> Members { get; }

    /// <summary>Which snapshot it is; newer ones have higher versions.</summary>
    public MembershipVersion Version { get; }

    /// <summary>All members as changes.</summary>
    public ClusterMembershipUpdate AsUpdate() => new(this, [.. Members.Values]);

    /// <summary>The members that are new or have changed since an older snapshot; those that are gone are dead.</summary>
    public ClusterMembershipUpdate CreateUpdate(ClusterMembershipSnapshot previous)
    {
        ArgumentNullException.ThrowIfNull(previous);
        if (previous.Version > Version)
            throw new ArgumentException("The snapshot " + previous.Version + " is newer than " + Version + ".", nameof(previous));
        var changes = Members.Values.Where(member => !member.Equals(previous.Members.GetValueOrDefault(member.SiloAddress)));
        var gone = previous.Members.Values.Where(member => !Members.ContainsKey(member.SiloAddress))
            .Select(static member => new ClusterMember(member.SiloAddress, SiloStatus.Dead, member.Name));
        return new ClusterMembershipUpdate(this, [.. changes.Concat(gone)]);
    }

    /// <summary>The status of a silo: that of its member; dead if a later silo has its endpoint; else None.</summary>
    public SiloStatus GetSiloStatus(SiloAddress silo)
    {
        ArgumentNullException.ThrowIfNull(silo);
        if (Members.TryGetValue(silo, out var member))
            return member.Status;
        return Members.Keys.Any(other => other.IsSuccessorOf(silo)) ? SiloStatus.Dead : SiloStatus.None;
    }

    /// <summary>
    /// As the other method, for a silo that was a member at an older version: if this snapshot does not list it any more, it is dead.
    /// </summary>
    public SiloStatus GetSiloStatus(SiloAddress silo, MembershipVersion seenAtVersion) =>
        GetSiloStatus(silo) is not SiloStatus.None and var status ? status
            : seenAtVersion > MembershipVersion.MinValue && Version > seenAtVersion ? SiloStatus.Dead : SiloStatus.None;

    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{this}");

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        destination.TryWrite(CultureInfo.InvariantCulture,
            $"{{ Version = {Version}, Members = [{string.Join(", ", Members.Values.OrderBy(static one => one.SiloAddress))}] }}",
            out charsWritten);
}

/// <summary>A snapshot and what has changed since an older one.</summary>
public sealed class ClusterMembershipUpdate
{
    /// <summary>Creates the update.</summary>
    public ClusterMembershipUpdate(ClusterMembershipSnapshot snapshot, ImmutableArray<ClusterMember> changes)
    {
        Snapshot = snapshot;
        Changes = changes;
    }

    /// <summary>The newer snapshot.</summary>
    public ClusterMembershipSnapshot Snapshot { get; }

    /// <summary>The members that are new, have changed, or are gone (then dead).</summary>
    public ImmutableArray<ClusterMember> Changes { get; }

    /// <summary>Whether there are changes.</summary>
    public bool HasChanges => !Changes.IsDefaultOrEmpty;
}

/// <summary>What a <see cref="SiloStatus"/> means.</summary>
public static class SiloStatusExtensions
{
    /// <summary>Whether the silo ends or has ended.</summary>
    public static bool IsTerminating(this SiloStatus siloStatus) =>
        siloStatus is SiloStatus.ShuttingDown or SiloStatus.Stopping or SiloStatus.Dead;
}
