using Microsoft.Extensions.Logging;
using Orleans.CodeGeneration;

namespace ActOp.Orleans.Locality;

/// <summary>
/// Whether calls are counted, and which share of them. What runs on the way of a call closes it at its first exception, for good: calls go
/// on without being counted.
/// </summary>
/// <remarks>Any thread. Owned by the silo; nothing else may hold calls up.</remarks>
internal sealed class LocalityGate(LocalityMetrics metrics, ILogger<LocalityGate> log)
{
    private int _stride;
    private Exception? _failure;

    [ThreadStatic]
    private static uint t_random;

    /// <summary>One call in this many is counted on average; 0: none.</summary>
    internal int Stride => Volatile.Read(ref _stride);

    /// <summary>What closed the gate.</summary>
    internal Exception? Failure => Volatile.Read(ref _failure);

    /// <summary>Counts one call in <paramref name="stride"/>, or none if it is 0 or the gate has been closed by a failure.</summary>
    internal void Open(int stride)
    {
        Volatile.Write(ref _stride, stride);
        Interlocked.MemoryBarrier();
        if (Failure is not null)
            Volatile.Write(ref _stride, 0);
    }

    internal void Close(string part, Exception exception)
    {
        metrics.FilterFailed();
        var isFirst = Interlocked.CompareExchange(ref _failure, exception, null) is null;
        Volatile.Write(ref _stride, 0);
        if (isFirst)
            log.SwitchedOff(part, exception);
    }

    /// <summary>Whether this call is counted, with which weight. At random, so that it does not correlate with patterns of calls.</summary>
    internal bool IsSampled(out int weight)
    {
        weight = Stride;
        if (weight <= 1)
            return weight == 1;
        // Xorshift of the thread.
        var random = t_random;
        if (random == 0)
            random = (uint)Environment.CurrentManagedThreadId * 2_654_435_761u | 1;
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        t_random = random;
        return random % (uint)weight == 0;
    }
}

/// <summary>Counts the calls that grains of this silo make. It does nothing to a call but count it.</summary>
internal sealed class OutgoingEdgeFilter(LocalityGate gate, LocalGrains grains) : IOutgoingGrainCallFilter
{
    public Task Invoke(IOutgoingGrainCallContext context)
    {
        if (gate.IsSampled(out var weight))
            Count(context, weight);
        return context.Invoke();
    }

    private void Count(IOutgoingGrainCallContext context, int weight)
    {
        try
        {
            if (context.SourceContext is { } source && !GrainKinds.IsSystem(context.TargetId.Type)
                && grains.TryGet(source.GrainId, out var grain))
            {
                grain.Count(grains, context.TargetId, weight * EdgeFilter.MessagesOf(context));
            }
        }
        catch (Exception exception)
        {
            gate.Close("the filter of outgoing calls", exception);
        }
    }
}

/// <summary>Counts the calls that grains of this silo receive from other grains.</summary>
internal sealed class IncomingEdgeFilter(LocalityGate gate, LocalGrains grains) : IIncomingGrainCallFilter
{
    public Task Invoke(IIncomingGrainCallContext context)
    {
        if (gate.IsSampled(out var weight))
            Count(context, weight);
        return grains.HasInterleaving ? InvokeInterleaved(context) : context.Invoke();
    }

    private void Count(IIncomingGrainCallContext context, int weight)
    {
        try
        {
            if (context.SourceId is { } source && !GrainKinds.IsSystem(source.Type) && grains.TryGet(context.TargetId, out var grain))
                grain.Count(grains, source, weight * EdgeFilter.MessagesOf(context));
        }
        catch (Exception exception)
        {
            gate.Close("the filter of incoming calls", exception);
        }
    }

    /// <summary>A grain moves only while no request of it runs. Of a grain that interleaves, they must be counted.</summary>
    private Task InvokeInterleaved(IIncomingGrainCallContext context)
    {
        if (!grains.TryGet(context.TargetId, out var grain) || !grain.Kind.Interleaves)
            return context.Invoke();
        return Counted(context, grain);

        static async Task Counted(IIncomingGrainCallContext context, LocalGrain grain)
        {
            grain.BeginRequest();
            try
            {
                await context.Invoke();
            }
            finally
            {
                grain.EndRequest();
            }
        }
    }
}

/// <summary>What both filters need.</summary>
internal static class EdgeFilter
{
    /// <summary>A request with its answer is two messages.</summary>
    internal static int MessagesOf(IGrainCallContext context) =>
        context.Request is IRequest request && (request.Options & InvokeMethodOptions.OneWay) != 0 ? 1 : 2;
}
