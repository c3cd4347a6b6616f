namespace ActOp.Mesh.Transports.Tls;

/// <summary>
/// A readiness set of TLS streams: the reports of the encrypted streams, and those that TLS streams make themselves when a handshake ends
/// on another thread.
/// <para>Threads: the queue of own reports is guarded by its gate; the rest as in <see cref="Readiness"/>.</para>
/// </summary>
internal sealed class TlsReadiness(Readiness inner) : Readiness
{
    private readonly Queue<Ready> _own = [];
    private readonly Lock _gate = new();
    private int _ownCount;

    public override bool CanLook => inner.CanLook;

    public override void Add(ByteStream stream)
    {
        var tls = (TlsStream)stream;
        tls.EnterSet(this);
        inner.Add(tls.Inner);
    }

    public override void Remove(ByteStream stream)
    {
        var tls = (TlsStream)stream;
        tls.EnterSet(null);
        inner.Remove(tls.Inner);
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

    /// <summary>Reports a stream whose state has changed without a change of its encrypted stream. Any thread.</summary>
    internal void Report(TlsStream stream, ReadyKinds kinds)
    {
        lock (_gate)
        {
            _own.Enqueue(new Ready(stream, kinds));
            Volatile.Write(ref _ownCount, _own.Count);
        }

        inner.Wake();
    }

    private int Translate(Span<Ready> reports, int found)
    {
        for (var i = 0; i < found; i++)
        {
            var (stream, kinds) = reports[i];
            var tls = (TlsStream)stream.Owner!;
            reports[i] = new Ready(tls, tls.Reported(kinds));
        }

        return Volatile.Read(ref _ownCount) == 0 ? found : AddOwn(reports, found);
    }

    private int AddOwn(Span<Ready> reports, int found)
    {
        lock (_gate)
        {
            while (found < reports.Length && _own.TryDequeue(out var report))
            {
                reports[found++] = report;
            }

            Volatile.Write(ref _ownCount, _own.Count);
            return found;
        }
    }
}
