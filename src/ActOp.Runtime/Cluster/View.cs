using System.Collections.Frozen;
using System.Collections.Immutable;
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
            {
                all[member.Silo] = member with { Status = SiloStatus.Dead, Cause = DeathCause.Replaced };
            }
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

    /// <summary>Which table the view is of: numbers of views of different tables say nothing about each other.</summary>
    public long TableId { get; private init; }

    /// <summary>The number as applications see it.</summary>
    public MembershipVersion Version => new(Number);

    /// <summary>All members, dead ones included, in silo order.</summary>
    public ImmutableArray<Member> Members { get; }

    /// <summary>The active silos in silo order: the owners of the directory and the targets of placement.</summary>
    public ReadOnlySpan<SiloAddress> ActiveSilos => _active;

    /// <summary>The view that a table snapshot makes.</summary>
    public static View From(TableSnapshot table) =>
        new(table.View, table.Rows.Select(row => new Member(row.Silo, row.Name, row.Status, row.Gateway, row.Cause))) { TableId = table.TableId };

    /// <summary>The member, or null when the view does not list it.</summary>
    public Member? Find(SiloAddress silo) => _members.GetValueOrDefault(silo);

    /// <summary>The silo's status; <see cref="SiloStatus.None"/> when the view does not list it.</summary>
    public SiloStatus StatusOf(SiloAddress silo) => Find(silo)?.Status ?? SiloStatus.None;

    /// <summary>Whether the silo is known to be dead: by its row, or because a newer generation has its endpoint.</summary>
    public bool IsDead(SiloAddress silo) =>
        Find(silo) is { } member
            ? member.Status == SiloStatus.Dead
            : _newest.TryGetValue(silo.Endpoint, out var generation) && generation > silo.Generation;

    /// <summary>Whether the silo is listed and may run turns.</summary>
    public bool MayHost(SiloAddress silo) => Find(silo) is { MayHost: true };

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
            {
                continue;
            }

            var now = Find(before.Silo);
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
