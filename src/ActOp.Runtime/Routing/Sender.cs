using System.Runtime.CompilerServices;
using System.Text;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Mesh;
using ActOp.Runtime.Cluster;
using ActOp.Runtime.Diagnostics;
using ActOp.Serialization;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>What the frames of a peer may say, in ascending order.</summary>
internal enum PeerRole : byte
{
    /// <summary>It has reached a port for clients: it may call grains and observers, and what is open to clients.</summary>
    Client,

    /// <summary>A silo that is dead in the view, or was not listed in time: it may join, read the table and probe.</summary>
    Stranger,

    /// <summary>A silo that the view does not list yet: as a stranger, but its other frames wait for the next view.</summary>
    Newcomer,

    /// <summary>A silo of the view that is not dead, or this node itself: it may say everything.</summary>
    Member,
}

/// <summary>Where frames come from: the node at the other end of a link, and what it may say.</summary>
/// <remarks>
/// Holds the role by the present view, the count of refusals, and the frames of a newcomer. One per <see cref="PeerEntry"/>; what it holds
/// is given back with the entry. Any thread: the role is one immutable object that each view replaces.
/// </remarks>
internal sealed class Sender(SiloAddress address, ClusterView cluster, bool isSilo)
{
    /// <summary>The part of the ids of its observers and of itself that names it; see <see cref="SystemGrainIds"/>.</summary>
    private readonly byte[] _key = Encoding.UTF8.GetBytes(address.ToParsableString());

    /// <summary>A request for many of its observers that is being delivered; later frames of its data links wait behind it.</summary>
    internal FanoutDelivery? Delivery;

    private volatile Standing? _standing;

    internal SiloAddress Address => address;

    /// <summary>The constructed types that it may name; null for this node.</summary>
    internal TypeShare? Types { get; set; }

    /// <inheritdoc cref="Peer.Mark"/>
    internal ulong Mark { get; set; }

    /// <inheritdoc cref="Peer.IsOperator"/>
    internal bool IsOperator { get; set; }

    /// <summary>Who calls if this client does; null unless its link is bound to a tenant, which the id then has in its key.</summary>
    internal TenantCaller? TenantCaller { get; set; }

    /// <summary>The refusals of its frames so far.</summary>
    internal RefusalCounts Refusals { get; } = new();

    /// <summary>Its frames that wait for a view that lists it.</summary>
    internal HeldFrames Held { get; } = new();

    /// <summary>What it may say now.</summary>
    internal PeerRole Role => _standing is { } known && ReferenceEquals(known.View, cluster.View) && !Held.IsWaiting ? known.Role : Check();

    /// <summary>What it may say by the present view, whether or not frames wait.</summary>
    internal PeerRole RoleByView => RoleIn(cluster.View);

    /// <summary>Whether a call of this client may name the source: itself, one of its observers, or nobody.</summary>
    internal bool Owns(ReadOnlySpan<byte> type, ReadOnlySpan<byte> key)
    {
        if (type.IsEmpty && key.IsEmpty)
            return true;
        if (!key.StartsWith(_key))
            return false;
        return key.Length == _key.Length
            ? type.SequenceEqual("sys.client"u8)
            : key[_key.Length] == (byte)'+' && type.SequenceEqual("sys.observer"u8);
    }

    private PeerRole Check()
    {
        var view = cluster.View;
        var role = RoleIn(view);
        // Later frames must not overtake those that wait.
        if (Held.IsWaiting && role == PeerRole.Member)
            return PeerRole.Newcomer;
        _standing = new Standing(view, role);
        return role;
    }

    /// <summary>A client has dialled all silos that it knows, so it needs no list of them.</summary>
    private PeerRole RoleIn(View view)
    {
        if (address.IsClient)
            return PeerRole.Client;
        if (view.IsDead(address))
            return PeerRole.Stranger;
        return !isSilo || view.FindMember(address) is not null ? PeerRole.Member : PeerRole.Newcomer;
    }

    private sealed record Standing(View View, PeerRole Role);
}

/// <summary>The caller of all requests of a client that is bound to a tenant. Immutable; any thread.</summary>
/// <param name="id">In the key, the tenant and the address of the client.</param>
internal sealed class TenantCaller(GrainId id)
{
    /// <summary>Apart from the method that reads a request, which would have the id among its locals for all clients and silos.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void SetAsSource(Call call) => call.SetRemoteSource(id.GetUniformHashCode(), id.Type.AsSpan(), id.Key.AsSpan());
}

/// <summary>
/// The frames of a silo that only members may send, while the view does not list the silo: the news of a join may arrive after the first
/// frames of the silo that has joined.
/// </summary>
/// <remarks>
/// Holds copies of frames, in order, up to two limits. <see cref="PeerTable"/> takes them out on the control stage: when the view changes,
/// or when they have waited for <see cref="LongestMs"/>; then they are refused. With the link they are dropped, as unread ones are. Any
/// thread.
/// </remarks>
internal sealed class HeldFrames
{
    /// <summary>How long frames wait. The table is read as soon as the first one waits.</summary>
    internal const long LongestMs = 2_000;

    private const int MaxFrames = 4_096;
    private const long MaxBytes = 4L << 20;

    private readonly Lock _gate = new();
    private readonly Queue<(byte[] Frame, long Since)> _frames = new();
    private long _bytes;
    private volatile bool _isWaiting;

    /// <summary>True from the first frame until all have been taken out and read.</summary>
    internal bool IsWaiting => _isWaiting;

    /// <summary>When the first of the frames was put in. Valid while frames wait.</summary>
    internal long Since { get; private set; }

    /// <summary>Keeps a copy. False if too many wait.</summary>
    internal bool TryAdd(ReadOnlySpan<byte> frame, long now, out bool isFirst)
    {
        lock (_gate)
        {
            isFirst = !_isWaiting;
            if (_frames.Count >= MaxFrames || _bytes + frame.Length > MaxBytes)
                return false;
            if (isFirst)
                Since = now;
            Invariant.Holds(_isWaiting || (_frames.Count == 0 && _bytes == 0));
            _frames.Enqueue((frame.ToArray(), now));
            _bytes += frame.Length;
            _isWaiting = true;
            return true;
        }
    }

    /// <summary>
    /// The next frame, with what is left of the time of its request; null, and none waits any more, if there is none.
    /// </summary>
    internal byte[]? TakeFrame(long now)
    {
        lock (_gate)
        {
            if (_frames.TryDequeue(out var next))
            {
                _bytes -= next.Frame.Length;
                Invariant.Holds(_isWaiting && _bytes >= 0 && (_frames.Count > 0 || _bytes == 0));
                RequestDeadline.Shorten(next.Frame, now - next.Since);
                return next.Frame;
            }

            _isWaiting = false;
            return null;
        }
    }

    internal void Clear()
    {
        lock (_gate)
        {
            _frames.Clear();
            _bytes = 0;
            _isWaiting = false;
        }
    }
}
