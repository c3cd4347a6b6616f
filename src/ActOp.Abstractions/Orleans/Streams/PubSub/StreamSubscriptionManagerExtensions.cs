using System.Diagnostics.CodeAnalysis;
using ActOp.Calls;
using Orleans.Runtime;
using Orleans.Streams.Core;

namespace Orleans.Streams.PubSub;

/// <summary>Subscribes grains by their keys.</summary>
public static class StreamSubscriptionManagerExtensions
{
    /// <summary>Subscribes the grain.</summary>
    public static Task<StreamSubscription> AddSubscription<TGrainInterface>(
        this IStreamSubscriptionManager manager, IGrainFactory grainFactory, StreamId streamId, string streamProviderName, GrainId grainId)
        where TGrainInterface : IGrainWithGuidKey =>
            Add(Given.NotNull(manager), streamId, streamProviderName, Given.NotNull(grainFactory).GetGrain<TGrainInterface>(grainId));

    /// <summary>Subscribes the grain.</summary>
    public static Task<StreamSubscription> AddSubscription<TGrainInterface>(
        this IStreamSubscriptionManager manager, IGrainFactory grainFactory, StreamId streamId, string streamProviderName, Guid primaryKey,
        string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidKey =>
            Add(Given.NotNull(manager), streamId, streamProviderName,
                Given.NotNull(grainFactory).GetGrain<TGrainInterface>(primaryKey, grainClassNamePrefix));

    /// <summary>Subscribes the grain.</summary>
    public static Task<StreamSubscription> AddSubscription<TGrainInterface>(
        this IStreamSubscriptionManager manager, IGrainFactory grainFactory, StreamId streamId, string streamProviderName, long primaryKey,
        string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerKey =>
            Add(Given.NotNull(manager), streamId, streamProviderName,
                Given.NotNull(grainFactory).GetGrain<TGrainInterface>(primaryKey, grainClassNamePrefix));

    /// <summary>Subscribes the grain.</summary>
    public static Task<StreamSubscription> AddSubscription<TGrainInterface>(
        this IStreamSubscriptionManager manager, IGrainFactory grainFactory, StreamId streamId, string streamProviderName,
            string primaryKey,
        string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithStringKey =>
            Add(Given.NotNull(manager), streamId, streamProviderName,
                Given.NotNull(grainFactory).GetGrain<TGrainInterface>(primaryKey, grainClassNamePrefix));

    /// <summary>Subscribes the grain.</summary>
    public static Task<StreamSubscription> AddSubscription<TGrainInterface>(
        this IStreamSubscriptionManager manager, IGrainFactory grainFactory, StreamId streamId, string streamProviderName, Guid primaryKey,
        string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidCompoundKey =>
            Add(Given.NotNull(manager), streamId, streamProviderName,
                Given.NotNull(grainFactory).GetGrain<TGrainInterface>(primaryKey, keyExtension, grainClassNamePrefix));

    /// <summary>Subscribes the grain.</summary>
    public static Task<StreamSubscription> AddSubscription<TGrainInterface>(
        this IStreamSubscriptionManager manager, IGrainFactory grainFactory, StreamId streamId, string streamProviderName, long primaryKey,
        string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerCompoundKey =>
            Add(Given.NotNull(manager), streamId, streamProviderName,
                Given.NotNull(grainFactory).GetGrain<TGrainInterface>(primaryKey, keyExtension, grainClassNamePrefix));

    /// <summary>The manager of a provider; false if it knows implicit subscriptions only.</summary>
    public static bool TryGetStreamSubscriptionManager(
        this IStreamProvider streamProvider, [NotNullWhen(true)] out IStreamSubscriptionManager? manager)
    {
        manager = (streamProvider as IStreamSubscriptionManagerRetriever)?.GetStreamSubscriptionManager();
        return manager is not null;
    }

    private static Task<StreamSubscription> Add(
        IStreamSubscriptionManager manager, StreamId streamId, string streamProviderName, IAddressable grain) =>
        manager.AddSubscription(streamProviderName, streamId, (GrainReference)grain);
}
