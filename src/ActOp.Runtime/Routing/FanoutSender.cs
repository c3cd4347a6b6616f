using System.Diagnostics.CodeAnalysis;
using System.Text;
using ActOp.Calls;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Calls;
using ActOp.Runtime.Diagnostics;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// The calls of one notification or broadcast that go to other nodes. Each link gets one frame with the list of its receivers instead of a
/// frame for each of them, and what they get is encoded once for all nodes.
/// </summary>
/// <remarks>
/// <para>Belongs to the thread that notifies. Holds, until they are sent: the calls that somebody waits for, one call of each content, and
/// buffers of the shared pool. At most <see cref="MaxContents"/> contents and <see cref="FanoutFrame.MaxReceivers"/> receivers of a frame,
/// then it sends.</para>
/// <para>What each receiver gets, and in which order, is what single calls would bring: a call joins only what has the same method,
/// context, trace and arguments, and never what stands before another call of the same receiver. Arguments that nothing changes are
/// compared by the objects; others are encoded for each receiver, because the caller may change them between two, and compared by their
/// bytes.</para>
/// <para>An observer is on the node that its key names. A grain is collected if the silo that has it is known: others take the way of a
/// single call, which asks the directory.</para>
/// </remarks>
internal sealed class FanoutSender(
    LocalNode local, CallSender calls, FrameWriter writer, PeerTable peers, Router router, RuntimeMetrics metrics) : Fanout(calls)
{
    /// <summary>Contents at the same time: a notification has one or two, or as many as receivers.</summary>
    private const int MaxContents = 4;

    /// <summary>So many contents of one receiver each: collecting them gains nothing, and costs.</summary>
    private const int MaxSingles = 32;

    /// <summary>More than the header of a request has, without the ids of grains and the name of an interface.</summary>
    private const int LongestHeader = 32 << 10;

    /// <summary>The nodes with observers, by what the keys of these begin with.</summary>
    private readonly Dictionary<byte[], FanoutNode> _nodes = new(KeyBytes.Comparer);

    /// <summary>The silos with grains. Apart from the nodes with observers: no order is kept between a grain and an observer.</summary>
    private readonly Dictionary<SiloAddress, FanoutNode> _silos = [];
    private readonly List<FanoutContent> _contents = [];
    private FanoutNode? _last;
    private FanoutNode? _lastSilo;
    private int _singles;
    private int _made;

    /// <summary>The receiver for which a call was taken last, by its number; 0 if none was since it last sent.</summary>
    private int _taken;

    /// <inheritdoc/>
    internal override bool TryTake(Call call, GrainReference reference)
    {
        if (TryJoin(call, reference))
            return true;
        // It must not overtake what was taken for the same receiver; for another one than that is called, nobody knows what was taken.
        if (_taken == Entered || !ReferenceEquals(reference, Receiver))
            Send();
        return false;
    }

    /// <inheritdoc/>
    internal override void Send()
    {
        if (_contents.Count == 0)
            return;
        _taken = 0;
        // All before the first is sent: its answer gives the call to its caller, who may be on another thread.
        FanoutNode[] all = [.. _nodes.Values, .. _silos.Values];
        foreach (var node in all)
        {
            foreach (var link in node.Links)
                Prepare(node, link);
        }

        foreach (var node in all)
        {
            foreach (var link in node.Links)
                Send(node, link);
        }

        foreach (var content in _contents)
            content.Return();
        _contents.Clear();
    }

    private bool TryJoin(Call call, GrainReference reference)
    {
        if (!ReferenceEquals(reference, Receiver) || (call.Flags & Call.Cancellable) != 0 || call.Method.Channel is not null)
            return false;
        if (_singles > MaxSingles)
            return false;
        Span<byte> digest = stackalloc byte[FanoutFrame.DigestBytes];
        if (FindNode(reference, digest) is not { IsReached: true } node)
            return false;
        if (!TryFindContent(call, out var content))
            return true;
        var list = node.LinkOf(reference).ListOf(content);
        content.LastReceiver = _taken = Entered;
        if (reference.Shared.IsObserver)
        {
            list.Add(reference.GrainId, digest);
        }
        else
        {
            list.AddGrain(reference.GrainId);
            router.CountSent(call);
        }

        if (!content.IsOneWay)
            list.AddWaiting(call, node.Address!);
        else if (!ReferenceEquals(content.Template, call) && call.TryClaim())
            call.Recycle();
        if (list.IsFull)
            Send();
        return true;
    }

    /// <summary>The node that has the receiver; null if single calls are to find it.</summary>
    private FanoutNode? FindNode(GrainReference reference, Span<byte> digest)
    {
        var key = reference.GrainId.Key.AsSpan();
        if (reference.Shared.IsObserver)
            return FanoutFrame.TrySplit(key, out var prefix, digest) ? FindNode(prefix) : null;
        // The single call says that the id is too long.
        if (reference.GrainId.Type.AsSpan().Length + key.Length > GrainIdBytes.MaxBytes || router.FindOther(reference) is not { } silo)
            return null;
        if (_lastSilo is { } last && silo.Equals(last.Address))
            return last;
        if (!_silos.TryGetValue(silo, out var node))
            _silos.Add(silo, node = new FanoutNode([], silo, peers.LinksForMany(silo, areGrains: true)));
        return _lastSilo = node;
    }

    /// <summary>The content of the call, a new one if no other call has had it. False, and the call has failed, if it has none.</summary>
    private bool TryFindContent(Call call, [NotNullWhen(true)] out FanoutContent? content)
    {
        byte[]? bytes = null;
        content = null;
        try
        {
            var isStable = call.Context?.Values is null && call.HasArgumentsOf(call);
            for (var index = _contents.Count - 1; index >= 0; index--)
            {
                var found = _contents[index];
                if (found.IsOf(call) && HasSameArguments(found, call, isStable, ref bytes))
                {
                    content = found;
                    return true;
                }

                if (found.LastReceiver == Entered)
                    break;
            }

            if (_contents.Count == MaxContents)
            {
                _singles = Entered <= _singles + (2 * MaxContents) ? _singles + MaxContents : _singles;
                Send();
            }

            content = new FanoutContent(call, ++_made, isStable ? bytes : bytes ?? Encode(call));
            _contents.Add(content);
            return true;
        }
        catch (Exception exception)
        {
            Activation.Fail(call, exception);
            return false;
        }
    }

    private bool HasSameArguments(FanoutContent content, Call call, bool isStable, ref byte[]? bytes)
    {
        if (isStable && content.Template.HasArgumentsOf(call))
            return true;
        content.Bytes ??= Encode(content.Template);
        bytes ??= Encode(call);
        return content.Bytes.AsSpan().SequenceEqual(bytes);
    }

    private byte[] Encode(Call call)
    {
        using var scratch = Scratch.Rent(calls);
        var to = new WireWriter(scratch.Buffer, scratch.Session);
        writer.WriteContent(ref to, call);
        to.Commit();
        return scratch.Buffer.Written.ToArray();
    }

    private FanoutNode FindNode(ReadOnlySpan<byte> prefix)
    {
        if (_last is { } last && last.Prefix.AsSpan().SequenceEqual(prefix))
            return last;
        var nodes = _nodes.GetAlternateLookup<ReadOnlySpan<byte>>();
        if (!nodes.TryGetValue(prefix, out var node))
        {
            node = NewNode(prefix.ToArray());
            _nodes.Add(node.Prefix, node);
        }

        return _last = node;
    }

    /// <summary>Without links if it is this node, is not connected, or is of an earlier build that does not know the frame.</summary>
    private FanoutNode NewNode(byte[] prefix)
    {
        var isAddress = SiloAddress.TryParse(Encoding.UTF8.GetString(prefix.AsSpan(0, prefix.Length - 1)), out var address);
        return new FanoutNode(prefix, address, isAddress && !address!.Equals(local.Address)
            ? peers.LinksForMany(address, areGrains: false) : 0);
    }

    private void Prepare(FanoutNode node, FanoutLink link)
    {
        foreach (var list in link.Lists)
        {
            try
            {
                list.Content.Bytes ??= Encode(list.Content.Template);
                list.Header = writer.SharedHeader(list.Content.Template, node.Address!, list.Deadline, out var source);
                list.Source = source;
                list.IsPrepared = true;
            }
            catch (Exception exception)
            {
                list.Fail(calls, exception, 0, list.Count);
            }
        }
    }

    private void Send(FanoutNode node, FanoutLink link)
    {
        foreach (var list in link.Lists)
        {
            try
            {
                if (list.IsPrepared)
                    Send(node, link, list);
            }
            catch (Exception exception)
            {
                list.Fail(calls, exception, 0, list.Count);
            }
            finally
            {
                list.Return();
            }
        }

        link.Lists.Clear();
    }

    private void Send(FanoutNode node, FanoutLink link, FanoutList list)
    {
        var bytes = list.Content.Bytes!;
        // As many as a frame may have: the content alone may be nearly as long as that.
        var room = local.MaxFrameBytes - bytes.Length - node.Prefix.Length - LongestHeader;
        for (int from = 0, count; from < list.Count; from += count)
        {
            count = list.CountWithin(from, room);
            using var scratch = Scratch.Rent(calls);
            var to = new WireWriter(scratch.Buffer, scratch.Session);
            list.Write(ref to, node.Prefix, from, count);
            to.WriteRaw(bytes);
            to.Commit();
            if (peers.SendToMany(node.Address!, link.Index, scratch.Buffer.Written) is { } failure)
                list.Fail(calls, failure, from, count);
            else if (list.Count > 1)
                metrics.FannedOut(count);
        }
    }

    /// <summary>A node and what goes to its observers, or to its grains.</summary>
    private sealed class FanoutNode(byte[] prefix, SiloAddress? address, int links)
    {
        internal byte[] Prefix => prefix;

        internal SiloAddress? Address => address;

        /// <summary>It is connected, and knows the frame.</summary>
        internal bool IsReached => Links.Length > 0;

        /// <summary>One for each link: what goes to one receiver goes over one link, as single calls do.</summary>
        internal FanoutLink[] Links { get; } = [.. Enumerable.Range(0, links).Select(static index => new FanoutLink((uint)index))];

        internal FanoutLink LinkOf(GrainReference reference) =>
            Links.Length == 1 ? Links[0] : Links[reference.GetUniformHashCode() % (uint)Links.Length];
    }

    /// <summary>What goes over one link.</summary>
    private sealed class FanoutLink(uint index)
    {
        internal uint Index => index;

        /// <summary>In the order of their contents: a content that is used again stands behind none that its next receiver has.</summary>
        internal List<FanoutList> Lists { get; } = [];

        internal FanoutList ListOf(FanoutContent content)
        {
            for (var index = Lists.Count - 1; index >= 0; index--)
            {
                if (ReferenceEquals(Lists[index].Content, content))
                    return Lists[index];
            }

            var at = Lists.FindIndex(list => list.Content.Number > content.Number);
            var made = new FanoutList(content);
            Lists.Insert(at < 0 ? Lists.Count : at, made);
            return made;
        }
    }

    /// <summary>Keys as bytes, which are found by a span.</summary>
    private sealed class KeyBytes : IEqualityComparer<byte[]>, IAlternateEqualityComparer<ReadOnlySpan<byte>, byte[]>
    {
        internal static readonly KeyBytes Comparer = new();

        public bool Equals(byte[]? x, byte[]? y) => x.AsSpan().SequenceEqual(y);

        public int GetHashCode(byte[] obj) => (int)StableHash.HashOf(obj);

        public bool Equals(ReadOnlySpan<byte> alternate, byte[] other) => alternate.SequenceEqual(other);

        public int GetHashCode(ReadOnlySpan<byte> alternate) => (int)StableHash.HashOf(alternate);

        public byte[] Create(ReadOnlySpan<byte> alternate) => alternate.ToArray();
    }
}
