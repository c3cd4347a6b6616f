namespace ActOp.Mesh.Transports.Memory;

/// <summary>
/// The readiness set of in-memory streams: reports in the order of the changes, so that a single-threaded run is deterministic.
/// </summary>
internal sealed class MemoryReadiness(MemoryNetwork network) : Readiness
{
    private readonly Queue<MemoryStreamEnd> _changed = [];
    private bool _woken;

    public override void Add(ByteStream stream)
    {
        var end = (MemoryStreamEnd)stream;
        lock (network.Gate)
        {
            end.Readiness = this;
            end.Unreported = ReadyKinds.None;
            var hangup = end.IsBroken || end.Other is null || end.Inbound.IsAtEnd;
            end.Report(ReadyKinds.Write
                | (end.Inbound.HasArrived ? ReadyKinds.Read : 0)
                | (hangup ? ReadyKinds.Hangup : 0));
        }
    }

    public override void Remove(ByteStream stream)
    {
        lock (network.Gate)
            ((MemoryStreamEnd)stream).Readiness = null;
    }

    public override int Wait(Span<Ready> reports, int timeoutMs)
    {
        lock (network.Gate)
        {
            if (_changed.Count == 0 && !_woken && timeoutMs != 0)
                Monitor.Wait(network.Gate, timeoutMs);

            _woken = false;
            var found = 0;
            while (found < reports.Length && _changed.TryDequeue(out var end))
            {
                // A stream that has moved stands in another set's queue too.
                if (end.Readiness == this && end.Unreported != ReadyKinds.None)
                {
                    reports[found++] = new Ready(end, end.Unreported);
                    end.Unreported = ReadyKinds.None;
                }
            }

            return found;
        }
    }

    public override void Wake()
    {
        lock (network.Gate)
        {
            _woken = true;
            Monitor.PulseAll(network.Gate);
        }
    }

    public override void Dispose()
    {
    }

    internal void Enqueue(MemoryStreamEnd end)
    {
        Invariant.Entered(network.Gate);
        Invariant.Holds(end.Readiness == this);
        _changed.Enqueue(end);
        Monitor.PulseAll(network.Gate);
    }
}
