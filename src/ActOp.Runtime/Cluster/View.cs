using System.Buffers.Binary;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Net;
using ActOp.Foundation;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>A numbered, immutable membership list. Views are totally ordered; every silo sees a subsequence of them.</summary>
internal sealed class View
{
    private readonly FrozenDictionary<SiloAddress, Member> _members;
    private readonly FrozenDictionary<System.Net.IPEndPoint, int> _newest;
    private readonly SiloAddress[] _active;

    /// <summary>Builds a view. Only the newest generation of an endpoint can be alive in it.</summary>
    public View(long number, IEnumerable<Member> members)
    {
        Number = number;
        var all = new Dictionary<SiloAddress, Member>();
        var newest = new Dictionary<System.Net.IPEndPoint, int>();
        foreach (var member in members)
        {
            all[member.Silo] = member;
            var seen = newest.GetValueOrDefault(member.Silo.Endpoint, int.MinValue);
            newest[member.Silo.Endpoint] = Math.Max(seen, member.Silo.Generation);
        }

        foreach (var member in all.Values.ToArray())
        {
            if (member.Status != SiloStatus.Dead && member.Silo.Generation < newest[member.Silo.Endpoint])
                all[member.Silo] = member with { Status = SiloStatus.Dead, Cause = DeathCause.Replaced };
        }

        _members = all.ToFrozenDictionary();
        _newest = newest.ToFrozenDictionary();
        Members = [.. all.Values.OrderBy(member => member.Silo, SiloOrder.Instance)];
        _active = [.. Members.Where(member => member.Status == SiloStatus.Active).Select(member => member.Silo)];
    }

    /// <summary>The view before the first: number 0, no members.</summary>
    public static View Empty { get; } = new(0, []);

    /// <summary>The view's number.</summary>
    public long Number { get; }

    /// <summary>Identity of the table. The numbers of views of different tables cannot be compared.</summary>
    public long TableId { get; private init; }

    /// <summary>The number as applications see it.</summary>
    public MembershipVersion Version => new(Number);

    /// <summary>All members, dead ones included, in silo order.</summary>
    public ImmutableArray<Member> Members { get; }

    /// <summary>The active silos in silo order: the owners of the directory and the targets of placement.</summary>
    public ReadOnlySpan<SiloAddress> ActiveSilos => _active;

    /// <summary>The view that a table snapshot makes.</summary>
    public static View From(TableSnapshot table) =>
        new(table.View, table.Rows.Select(row =>
            new Member(row.Silo, row.Name, row.Status, row.Gateway, row.Cause)))
        { TableId = table.TableId };

    /// <summary>The member, or null when the view does not list it.</summary>
    public Member? FindMember(SiloAddress silo) => _members.GetValueOrDefault(silo);

    /// <summary>The silo's status; <see cref="SiloStatus.None"/> when the view does not list it.</summary>
    public SiloStatus StatusOf(SiloAddress silo) => FindMember(silo)?.Status ?? SiloStatus.None;

    /// <summary>Whether the silo is known to be dead: by its row, or because a newer generation has its endpoint.</summary>
    public bool IsDead(SiloAddress silo) =>
        FindMember(silo) is { } member
            ? member.Status == SiloStatus.Dead
            : _newest.TryGetValue(silo.Endpoint, out var generation) && generation > silo.Generation;

    /// <summary>Whether the silo is listed and may run turns.</summary>
    public bool MayHost(SiloAddress silo) => FindMember(silo) is { MayHost: true };

    /// <summary>What changed since <paramref name="older"/>.</summary>
    public ViewChange Since(View older)
    {
        var joined = _active.Where(silo => older.StatusOf(silo) != SiloStatus.Active);
        var left = older._active.Where(silo => StatusOf(silo) != SiloStatus.Active);
        return new ViewChange([.. joined], [.. left], [.. DeadSince(older)]);
    }

    private IEnumerable<Member> DeadSince(View older)
    {
        foreach (var before in older.Members)
        {
            if (before.Status == SiloStatus.Dead)
                continue;

            var now = FindMember(before.Silo);
            if (now is null)
            {
                var cause = IsDead(before.Silo) ? DeathCause.Replaced : DeathCause.Silent;
                yield return before with { Status = SiloStatus.Dead, Cause = cause };
            }
            else if (now.Status == SiloStatus.Dead)
            {
                yield return now;
            }
        }
    }
}

/// <summary>What changed between two views.</summary>
/// <param name="Joined">Silos that became active.</param>
/// <param name="Left">Silos that were active and no longer are, dead or not.</param>
/// <param name="Died">Silos that were alive in the older view and are dead or gone in the newer, with the cause.</param>
internal sealed record ViewChange(ImmutableArray<SiloAddress> Joined, ImmutableArray<SiloAddress> Left, ImmutableArray<Member> Died);

/// <summary>One silo as a view shows it.</summary>
/// <param name="Silo">Its address.</param>
/// <param name="Name">Its name.</param>
/// <param name="Status">Its status in that view.</param>
/// <param name="Gateway">Where clients connect, or null when it takes none.</param>
/// <param name="Cause">Why it is dead, if it is.</param>
internal sealed record Member(SiloAddress Silo, string Name, SiloStatus Status, IPEndPoint? Gateway, DeathCause Cause)
{
    /// <summary>Whether the silo may run turns: it is active, or it is stopping.</summary>
    public bool MayHost => MayHostIn(Status);

    /// <summary>The same for a status.</summary>
    public static bool MayHostIn(SiloStatus status) => status is SiloStatus.Active or SiloStatus.ShuttingDown or SiloStatus.Stopping;
}

/// <summary>A total order of silos and a stable 64-bit hash of their endpoints: the same in every process, whatever the platform.</summary>
internal sealed class SiloOrder : IComparer<SiloAddress>
{
    /// <summary>The one instance.</summary>
    public static SiloOrder Instance { get; } = new();

    /// <inheritdoc/>
    public int Compare(SiloAddress? x, SiloAddress? y)
    {
        if (x is null || y is null)
            return (x is null ? 0 : 1) - (y is null ? 0 : 1);

        Span<byte> left = stackalloc byte[16];
        Span<byte> right = stackalloc byte[16];
        x.Endpoint.Address.TryWriteBytes(left, out var leftLength);
        y.Endpoint.Address.TryWriteBytes(right, out var rightLength);
        var order = left[..leftLength].SequenceCompareTo(right[..rightLength]);
        if (order == 0)
            order = x.Endpoint.Port.CompareTo(y.Endpoint.Port);

        return order != 0 ? order : x.Generation.CompareTo(y.Generation);
    }

    /// <summary>Whether both are processes at the same address and port.</summary>
    public static bool SameEndpoint(SiloAddress x, SiloAddress y) => x.Endpoint.Equals(y.Endpoint);

    /// <summary>
    /// Hash of address and port without the generation: a restarted silo returns to its place on the ring and to its slots.
    /// </summary>
    public static ulong EndpointHash(SiloAddress silo)
    {
        Span<byte> bytes = stackalloc byte[16];
        bytes.Clear();
        silo.Endpoint.Address.TryWriteBytes(bytes, out _);
        var hash = Mix(BinaryPrimitives.ReadUInt64LittleEndian(bytes));
        hash = Mix(hash ^ BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]));
        return Mix(hash ^ (uint)silo.Endpoint.Port);
    }

    /// <summary>The finaliser of SplitMix64: a bijection in which every input bit moves every output bit.</summary>
    public static ulong Mix(ulong x)
    {
        x += 0x9E3779B97F4A7C15UL;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9UL;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBUL;
        return x ^ (x >> 31);
    }
}

/// <summary>The current view of this process. Written by the control stage, read by any thread.</summary>
internal sealed class ClusterView(LocalNode local)
{
    private volatile View _view = View.Empty;
    private volatile SiloAddress[] _active = [];
    private volatile TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal View View => _view;

    internal MembershipVersion Version => _view.Version;

    /// <summary>The active silos, in the same order on every node.</summary>
    internal SiloAddress[] Active => _active;

    /// <summary>The silos that accept new activations. Do not modify. Does not contain this silo once it is stopping.</summary>
    internal SiloAddress[] Placeable
    {
        get
        {
            var active = _active;
            return local.IsSilo && local.IsStopping ? [.. active.Where(silo => !silo.Equals(local.Address))] : active;
        }
    }

    /// <summary>Completes with the next change.</summary>
    internal Task Changed => _changed.Task;

    internal bool IsActive(SiloAddress silo) => _view.StatusOf(silo) == SiloStatus.Active;

    /// <summary>Whether the silo may run grains, so that a call can be sent to it.</summary>
    internal bool IsUsable(SiloAddress silo) => _view.MayHost(silo);

    internal bool IsDead(SiloAddress silo) => _view.IsDead(silo);

    /// <summary>Takes a newer view, or a view of another table. Returns false if the view is not newer.</summary>
    internal bool Update(View view)
    {
        if (view.TableId == _view.TableId && view.Number <= _view.Number)
            return false;
        _view = view;
        _active = view.ActiveSilos.ToArray();
        var changed = _changed;
        _changed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        changed.TrySetResult();
        return true;
    }
}
