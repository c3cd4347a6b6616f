using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text;
using ActOp.Foundation;
using ActOp.Runtime.Activations;
using Microsoft.Extensions.DependencyInjection;
using Orleans.BroadcastChannel;
using Orleans.Metadata;
using Orleans.Runtime;
using Orleans.Streams;

namespace ActOp.Streams;

/// <summary>
/// Which grain classes of the cluster subscribe by attributes to which namespaces, of streams and of broadcast channels.
/// </summary>
/// <remarks>
/// Any thread. The table is made anew when the silo hears of other classes. The result for a namespace is kept, for a limited number of
/// namespaces. A pattern that cannot be used in this process is logged once per table and matches nothing. A predicate or mapper of the
/// application that throws leaves its class out, for as long as it throws; the other subscriptions to the stream or channel hold.
/// </remarks>
internal sealed class ImplicitSubscriptions(StreamNode parts)
{
    /// <summary>Namespaces whose classes are kept; others are looked up each time.</summary>
    private const int MaxNamespaces = 4096;

    private volatile Table? _table;

    private Table Current
    {
        get
        {
            var entries = parts.Classes.Entries;
            return _table is { } table && ReferenceEquals(table.Entries, entries) ? table : _table = new Table(entries, parts);
        }
    }

    /// <summary>The implicit subscriptions to a stream.</summary>
    internal List<SubscriptionEntry> To(QualifiedStreamId stream) => To(stream, out _);

    /// <inheritdoc cref="To(QualifiedStreamId)"/>
    /// <param name="stream">The stream.</param>
    /// <param name="areAll">False if a predicate or mapper has thrown, so that there may be more.</param>
    internal List<SubscriptionEntry> To(QualifiedStreamId stream, out bool areAll)
    {
        var found = new List<SubscriptionEntry>();
        areAll = true;
        foreach (var binding in Current.Streams.BindingsOf(stream.StreamId.GetNamespace() ?? "", ref areAll))
        {
            var consumer = binding.Consumer(stream.StreamId);
            areAll &= !consumer.IsDefault;
            if (!consumer.IsDefault && !found.Exists(one => one.Consumer == consumer))
                found.Add(new SubscriptionEntry { Id = IdOf(stream, binding.GrainType), Consumer = consumer });
        }

        return found;
    }

    /// <summary>The grains that get what is published to a channel.</summary>
    internal List<GrainId> To(ChannelId channel)
    {
        var found = new List<GrainId>();
        var areAll = true;
        foreach (var binding in Current.Channels.BindingsOf(channel.GetNamespace() ?? "", ref areAll))
        {
            var consumer = binding.Consumer(channel);
            if (!consumer.IsDefault && !found.Contains(consumer))
                found.Add(consumer);
        }

        return found;
    }

    /// <summary>The implicit subscription of the grain to the stream, if it has one.</summary>
    internal bool TryGet(QualifiedStreamId stream, GrainId consumer, out Guid id)
    {
        id = default;
        if (To(stream).Find(one => one.Consumer == consumer) is not { } found)
            return false;
        id = found.Id;
        return true;
    }

    /// <summary>The same in every process, because nobody keeps it.</summary>
    private static Guid IdOf(QualifiedStreamId stream, GrainType grainType)
    {
        Span<byte> hash = stackalloc byte[32];
        SHA256.HashData(Encoding.UTF8.GetBytes(grainType + "\n" + stream), hash);
        return StreamPubSub.Mark(new Guid(hash[..16]), isImplicit: true);
    }

    /// <summary>The bindings of the known classes.</summary>
    private sealed class Table
    {
        internal Table(GrainTypeEntry[] entries, StreamNode parts)
        {
            Entries = entries;
            var (streams, channels) = (new List<Binding>(), new List<Binding>());
            foreach (var entry in entries)
            {
                var bindings = GrainBindings.FromProperties(GrainType.Create(entry.GrainType), entry.Properties);
                foreach (var binding in bindings.Bindings)
                {
                    switch (binding.GetValueOrDefault(WellKnownGrainTypeProperties.BindingTypeKey))
                    {
                        case WellKnownGrainTypeProperties.StreamBindingTypeValue:
                            streams.Add(Binding.OfStreams(parts, bindings, binding));
                            break;
                        case WellKnownGrainTypeProperties.BroadcastChannelBindingTypeValue:
                            channels.Add(Binding.OfChannels(parts, bindings, binding));
                            break;
                    }
                }
            }

            Streams = new ByNamespace(streams);
            Channels = new ByNamespace(channels);
        }

        internal GrainTypeEntry[] Entries { get; }

        internal ByNamespace Streams { get; }

        internal ByNamespace Channels { get; }
    }

    private sealed class ByNamespace(List<Binding> all)
    {
        private readonly ConcurrentDictionary<string, Binding[]> _found = new(StringComparer.Ordinal);

        internal Binding[] BindingsOf(string ns, ref bool areAll)
        {
            if (_found.TryGetValue(ns, out var found))
                return found;
            var areSure = true;
            found = [.. all.Where(binding => binding.Matches(ns, ref areSure))];
            // What a predicate that has thrown will say is not known.
            if (areSure && _found.Count < MaxNamespaces)
                _found.TryAdd(ns, found);
            areAll &= areSure;
            return found;
        }
    }

    /// <summary>One binding of one class.</summary>
    private sealed class Binding(GrainBindings bindings, Func<string, bool> matches, StreamNode parts, string? mapper)
    {
        private readonly FailureCount _failures = new();

        internal GrainType GrainType => bindings.GrainType;

        internal static Binding OfStreams(StreamNode parts, GrainBindings bindings, IReadOnlyDictionary<string, string> values)
        {
            var pattern = values.GetValueOrDefault(WellKnownGrainTypeProperties.StreamBindingPatternKey) ?? "";
            var mapper = values.GetValueOrDefault(WellKnownGrainTypeProperties.StreamIdMapperKey);
            return new Binding(bindings, Predicate(
                parts, bindings.GrainType, pattern, parts.Services.GetServices<IStreamNamespacePredicateProvider>(),
                provider => provider.TryGetPredicate(pattern, out var predicate) ? predicate.IsMatch : null), parts, mapper);
        }

        internal static Binding OfChannels(StreamNode parts, GrainBindings bindings, IReadOnlyDictionary<string, string> values)
        {
            var pattern = values.GetValueOrDefault(WellKnownGrainTypeProperties.BroadcastChannelBindingPatternKey) ?? "";
            var mapper = values.GetValueOrDefault(WellKnownGrainTypeProperties.ChannelIdMapperKey);
            return new Binding(bindings, Predicate(
                parts, bindings.GrainType, pattern, parts.Services.GetServices<IChannelNamespacePredicateProvider>(),
                provider => provider.TryGetPredicate(pattern, out var predicate) ? predicate.IsMatch : null), parts, mapper);
        }

        internal bool Matches(string ns, ref bool isSure)
        {
            try
            {
                return matches(ns);
            }
            catch (Exception exception)
            {
                isSure = false;
                Failed("The predicate", ns, exception);
                return false;
            }
        }

        /// <summary>The grain of the class that gets the items of the stream; none if the mapper does not say.</summary>
        internal GrainId Consumer(StreamId stream) => Consumer(stream, stream => (mapper is null
            ? new DefaultStreamIdMapper()
            : parts.Services.GetKeyedService<IStreamIdMapper>(mapper)
                ?? throw new KeyNotFoundException("No IStreamIdMapper has the name " + mapper + ".")).GetGrainKeyId(bindings, stream));

        /// <inheritdoc cref="Consumer(StreamId)"/>
        internal GrainId Consumer(ChannelId channel) => Consumer(channel, channel => (mapper is null
            ? new DefaultChannelIdMapper()
            : parts.Services.GetKeyedService<IChannelIdMapper>(mapper)
                ?? throw new KeyNotFoundException("No IChannelIdMapper has the name " + mapper + ".")).GetGrainKeyId(bindings, channel));

        private GrainId Consumer<T>(T from, Func<T, IdSpan> map)
            where T : notnull
        {
            try
            {
                var key = map(from);
                return !key.IsDefault ? GrainId.Create(GrainType, key)
                    : throw new InvalidOperationException("The mapper has returned no key.");
            }
            catch (Exception exception)
            {
                Failed("The mapper", from.ToString()!, exception);
                return default;
            }
        }

        private void Failed(string what, string name, Exception exception)
        {
            if (_failures.IsTold(out var count))
                parts.Log.SubscriptionUnusable(what, GrainType, name, count, exception);
        }

        /// <summary>The predicate of the first provider that knows the pattern. One that throws does not know it.</summary>
        private static Func<string, bool> Predicate<TProvider>(
            StreamNode parts, GrainType grainType, string pattern, IEnumerable<TProvider> providers,
            Func<TProvider, Func<string, bool>?> find)
        {
            var reason = "no provider of predicates knows it";
            foreach (var provider in providers)
            {
                try
                {
                    if (find(provider) is { } found)
                        return found;
                }
                catch (Exception exception)
                {
                    // The pattern may come from another silo.
                    reason = exception.Message;
                }
            }

            parts.Log.PatternUnusable(pattern, grainType, reason);
            return static _ => false;
        }
    }
}
