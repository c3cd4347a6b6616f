using System.Net;

namespace ActOp.Mesh.Transports;

/// <summary>
/// A stream whose bytes pass something (TLS, middleware) on the way to another stream, which it owns. It has readiness of its own: what is
/// behind it may make bytes or room while the inner stream does not change.
/// <para>Threads: <see cref="EnterSet"/> by the poller, <see cref="Report"/> by any thread, <see cref="Reported"/> by the thread that
/// waits, for which the stream may be gone already.</para>
/// </summary>
internal abstract class LayeredStream : ByteStream
{
    private LayeredReadiness? _set;

    protected LayeredStream(ByteStream inner)
    {
        Inner = inner;
        inner.Owner = this;
    }

    public override EndPoint? RemoteEndPoint => Inner.RemoteEndPoint;

    public override bool TakesReserve => Inner.TakesReserve;

    internal override EndPoint? LocalEndPoint => Inner.LocalEndPoint;

    internal override Refusal? Refusal => Inner.Refusal;

    internal ByteStream Inner { get; }

    /// <summary>The stream was added to a readiness set, or removed.</summary>
    internal void EnterSet(LayeredReadiness? set)
    {
        // With a full fence, because a change on another thread reads it: either this thread sees the change, or that one the set.
        Interlocked.Exchange(ref _set, set);
        if (set is not null)
            Entered();
    }

    /// <summary>Translates a report about the inner stream. Thread of the wait; the report may be stale.</summary>
    internal abstract ReadyKinds Reported(ReadyKinds kinds);

    /// <summary>The stream has entered a set; changes before that had nobody to report to.</summary>
    protected virtual void Entered()
    {
    }

    /// <summary>Tells the set, if the stream is in one, that the stream is ready.</summary>
    protected void Report(ReadyKinds kinds) => Volatile.Read(ref _set)?.Report(this, kinds);
}

/// <summary>
/// A readiness set with streams of one layer, and with others, which pass as they are: the reports of the inner streams, and those that
/// the streams of the layer make themselves.
/// <para>Threads: the queue of own reports is guarded by its gate; the rest as in <see cref="Readiness"/>.</para>
/// </summary>
/// <param name="inner">The set of the inner streams.</param>
/// <param name="layer">The type of the layer's streams.</param>
internal sealed class LayeredReadiness(Readiness inner, Type layer) : Readiness
{
    private readonly Queue<Ready> _own = [];
    private readonly Lock _gate = new();
    private int _ownCount;

    public override bool CanLook => inner.CanLook;

    public override void Add(ByteStream stream)
    {
        (Layer(stream) as LayeredStream)?.EnterSet(this);
        inner.Add(Below(stream));
    }

    public override void Remove(ByteStream stream)
    {
        (Layer(stream) as LayeredStream)?.EnterSet(null);
        inner.Remove(Below(stream));
    }

    public override int Wait(Span<Ready> reports, int timeoutMs)
    {
        // An own report that is queued after this look also wakes the inner set.
        var found = inner.Wait(reports, Volatile.Read(ref _ownCount) > 0 ? 0 : timeoutMs);
        return Translate(reports, found);
    }

    public override bool TryLook(Span<Ready> reports, out int found)
    {
        var any = inner.TryLook(reports, out found);
        found = Translate(reports, found);
        return any || found > 0;
    }

    public override void Wake() => inner.Wake();

    public override void Dispose() => inner.Dispose();

    /// <summary>Reports a stream whose state has changed without a change of its inner stream. Any thread.</summary>
    internal void Report(LayeredStream stream, ReadyKinds kinds)
    {
        lock (_gate)
        {
            _own.Enqueue(new Ready(stream, kinds));
            Volatile.Write(ref _ownCount, _own.Count);
        }

        inner.Wake();
    }

    private object? Layer(object? stream) => stream?.GetType() == layer ? stream : null;

    private ByteStream Below(ByteStream stream) => Layer(stream) is LayeredStream own ? own.Inner : stream;

    private int Translate(Span<Ready> reports, int found)
    {
        for (var i = 0; i < found; i++)
        {
            var (stream, kinds) = reports[i];
            if (Layer(stream.Owner) is LayeredStream own)
                reports[i] = new Ready(own, own.Reported(kinds));
        }

        return Volatile.Read(ref _ownCount) == 0 ? found : AddOwn(reports, found);
    }

    private int AddOwn(Span<Ready> reports, int found)
    {
        lock (_gate)
        {
            while (found < reports.Length && _own.TryDequeue(out var report))
                reports[found++] = report;

            Volatile.Write(ref _ownCount, _own.Count);
            return found;
        }
    }
}
