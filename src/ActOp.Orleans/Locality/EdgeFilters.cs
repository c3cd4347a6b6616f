using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.CodeGeneration;
using Orleans.Configuration;
using Orleans.Serialization.Invocation;

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

/// <summary>
/// Sends the calls of this silo as Orleans does, and counts those that its grains make; those that they receive are counted where they
/// are sent. It stands where references hand their calls to the runtime: an outgoing filter would make Orleans send each call of the silo
/// the slow way, counted or not (record 0093).
/// </summary>
/// <remarks>
/// Any thread. The accessor of contexts is asked for at the first counted call: Orleans makes it of parts that need this one.
/// </remarks>
internal sealed class CountingReferences(IGrainReferenceRuntime inner, IServiceProvider services, LocalityGate gate, LocalGrains grains)
    : IGrainReferenceRuntime
{
    private IGrainContextAccessor? _contexts;

    /// <summary>Puts it before what sends calls now.</summary>
    /// <exception cref="OrleansConfigurationException">Nothing sends calls.</exception>
    internal static void Add(IServiceCollection services)
    {
        var sends = services.LastOrDefault(static service => service.ServiceType == typeof(IGrainReferenceRuntime))
            ?? throw new OrleansConfigurationException(
                "No IGrainReferenceRuntime is registered: call AddActOpLocality in UseOrleans of a silo.");
        services.AddSingleton<IGrainReferenceRuntime>(silo => new CountingReferences(
            (IGrainReferenceRuntime)(sends.ImplementationInstance ?? sends.Make(silo)),
            silo, silo.GetRequiredService<LocalityGate>(), silo.GetRequiredService<LocalGrains>()));
    }

    public ValueTask<T?> InvokeMethodAsync<T>(GrainReference reference, IInvokable request, InvokeMethodOptions options)
    {
        if (gate.IsSampled(out var weight))
            Count(reference, options, weight);
        return inner.InvokeMethodAsync<T>(reference, request, options);
    }

    public ValueTask InvokeMethodAsync(GrainReference reference, IInvokable request, InvokeMethodOptions options)
    {
        if (gate.IsSampled(out var weight))
            Count(reference, options, weight);
        return inner.InvokeMethodAsync(reference, request, options);
    }

    public void InvokeMethod(GrainReference reference, IInvokable request, InvokeMethodOptions options)
    {
        if (gate.IsSampled(out var weight))
            Count(reference, options, weight);
        inner.InvokeMethod(reference, request, options);
    }

    public object Cast(IAddressable grain, Type interfaceType) => inner.Cast(grain, interfaceType);

    private void Count(GrainReference reference, InvokeMethodOptions options, int weight)
    {
        try
        {
            var contexts = _contexts ??= services.GetRequiredService<IGrainContextAccessor>();
            if (contexts.GrainContext is { } source && grains.TryGet(source.GrainId, out var grain)
                && !GrainKinds.IsSystem(reference.GrainId.Type))
            {
                // A request with its answer is two messages.
                grain.Count(grains, reference.GrainId, (options & InvokeMethodOptions.OneWay) != 0 ? weight : 2 * weight);
            }
        }
        catch (Exception exception)
        {
            gate.Close("the counting of calls that are sent", exception);
        }
    }
}

/// <summary>
/// Counts the requests that run of grains whose requests interleave. Such a grain moves only while none runs: a request that waits for a
/// call back to its own grain would wait for the end of the move, which waits for the request.
/// </summary>
internal sealed class RunningRequestsFilter(LocalGrains grains) : IIncomingGrainCallFilter
{
    public Task Invoke(IIncomingGrainCallContext context)
    {
        if (!grains.TryGet(context.TargetId, out var grain) || !grain.Kind.Interleaves)
            return context.Invoke();
        grain.BeginRequest();
        Task call;
        try
        {
            call = context.Invoke();
        }
        catch
        {
            grain.EndRequest();
            throw;
        }

        // Most requests that interleave answer at once: they cost two additions. The others cost no state machine.
        if (call.IsCompleted)
            grain.EndRequest();
        else
            call.ConfigureAwait(false).GetAwaiter().UnsafeOnCompleted(grain.WhenRequestEnds);
        return call;
    }
}

/// <summary>
/// The incoming filters of the silo: those of the application, and <see cref="RunningRequestsFilter"/> if a class of the silo needs it.
/// With any filter at all, Orleans sends each call a slower way.
/// </summary>
/// <remarks>Made by the container at the first call, and read by Orleans once. Owns the filters that it has made.</remarks>
internal sealed class CallFilters : List<IIncomingGrainCallFilter>, IAsyncDisposable, IDisposable
{
    private readonly List<object> _made = [];

    private CallFilters(IServiceProvider silo, IEnumerable<ServiceDescriptor> registered)
    {
        // The first one: a request that waits in a filter of the application runs, too.
        if (silo.GetRequiredService<IOptions<GrainTypeOptions>>().Value.Classes.Any(GrainKinds.MayInterleave))
            Add(new RunningRequestsFilter(silo.GetRequiredService<LocalGrains>()));
        foreach (var filter in registered)
            Add((IIncomingGrainCallFilter)(filter.ImplementationInstance ?? Keep(filter.Make(silo))));
    }

    /// <summary>Puts it in the place of the list that the container would make.</summary>
    internal static void Add(IServiceCollection services) => services.AddSingleton<IEnumerable<IIncomingGrainCallFilter>>(
        silo => new CallFilters(
            silo, services.Where(static one => one.ServiceType == typeof(IIncomingGrainCallFilter) && !one.IsKeyedService)));

    public async ValueTask DisposeAsync()
    {
        foreach (var filter in _made)
        {
            if (filter is IAsyncDisposable one)
                await one.DisposeAsync();
            else
                (filter as IDisposable)?.Dispose();
        }
    }

    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();

    private object Keep(object made)
    {
        _made.Add(made);
        return made;
    }
}

/// <summary>Makes what the container would make, for what stands in its place.</summary>
file static class Registrations
{
    internal static object Make(this ServiceDescriptor registered, IServiceProvider services) =>
        registered.ImplementationFactory?.Invoke(services) ?? ActivatorUtilities.CreateInstance(services, registered.ImplementationType!);
}
