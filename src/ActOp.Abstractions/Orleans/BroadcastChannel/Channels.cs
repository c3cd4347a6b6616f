using System.Diagnostics.CodeAnalysis;
using System.Text.RegularExpressions;
using ActOp.Calls;
using Orleans.Metadata;
using Orleans.Runtime;
using Orleans.Streams;

namespace Orleans.BroadcastChannel;

/// <summary>Gives access to the broadcast channels of one provider.</summary>
public interface IBroadcastChannelProvider
{
    /// <summary>What publishes to a channel. Local and cheap: nothing is sent.</summary>
    IBroadcastChannelWriter<T> GetChannelWriter<T>(ChannelId streamId);
}

/// <summary>Publishes to one channel. Any thread.</summary>
/// <typeparam name="T">The type of the items.</typeparam>
public interface IBroadcastChannelWriter<T>
{
    /// <summary>
    /// Sends the item to every grain that is subscribed. With <see cref="BroadcastChannelOptions.FireAndForgetDelivery"/> it does not wait
    /// for them.
    /// </summary>
    Task Publish(T item);

    /// <inheritdoc cref="Publish(T)"/>
    /// <remarks>A cancelled caller waits no longer; which grains get the item is unknown then.</remarks>
    Task Publish(T item, CancellationToken cancellationToken) =>
        cancellationToken.IsCancellationRequested ? Task.FromCanceled(cancellationToken)
            : Given.Task(Publish(item)).WaitAsync(cancellationToken);
}

/// <summary>The subscription of a grain to a channel.</summary>
public interface IBroadcastChannelSubscription
{
    /// <summary>The channel.</summary>
    ChannelId ChannelId { get; }

    /// <summary>The name of the channel's provider.</summary>
    string ProviderName { get; }

    /// <summary>Sets the methods that get the items of this activation.</summary>
    /// <param name="onPublished">Gets each item.</param>
    /// <param name="onError">Gets what the runtime could not deliver, such as an item of another type; or null.</param>
    Task Attach<T>(Func<T, Task> onPublished, Func<Exception, Task>? onError = null);
}

/// <summary>A grain that is told of its subscriptions when their first items arrive.</summary>
public interface IOnBroadcastChannelSubscribed
{
    /// <summary>The first item of a channel has arrived; it is delivered when this has ended.</summary>
    Task OnSubscribed(IBroadcastChannelSubscription streamSubscription);
}

/// <summary>How the channels of a provider deliver.</summary>
public class BroadcastChannelOptions
{
    /// <summary>Whether publishers do not wait for the grains. Otherwise they get the exceptions of all grains that have failed.</summary>
    public bool FireAndForgetDelivery { get; set; } = true;
}

/// <summary>The identity of a channel within its provider: a namespace and a key, both in UTF-8.</summary>
public readonly struct ChannelId : IEquatable<ChannelId>, IComparable<ChannelId>, ISpanFormattable
{
    private readonly NamespacedKey _key;

    internal ChannelId(byte[] full, ushort namespaceLength) => _key = new NamespacedKey(full, namespaceLength);

    private ChannelId(NamespacedKey key) => _key = key;

    /// <summary>The namespace followed by the key, in UTF-8.</summary>
    public ReadOnlyMemory<byte> FullKey => _key.Full;

    /// <summary>The namespace in UTF-8; empty if there is none.</summary>
    public ReadOnlyMemory<byte> Namespace => _key.Namespace;

    /// <summary>The key in UTF-8.</summary>
    public ReadOnlyMemory<byte> Key => _key.Key;

    /// <inheritdoc/>
    public static bool operator ==(ChannelId left, ChannelId right) => left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(ChannelId left, ChannelId right) => !left.Equals(right);

    /// <summary>The channel with that namespace and key.</summary>
    public static ChannelId Create(ReadOnlySpan<byte> ns, ReadOnlySpan<byte> key) => new(NamespacedKey.Create(ns, key, "channel"));

    /// <summary>The channel whose key is a <see cref="Guid"/>, as 32 digits.</summary>
    public static ChannelId Create(string ns, Guid key) => new(NamespacedKey.Create(ns, key, "channel"));

    /// <summary>The channel whose key is a text.</summary>
    public static ChannelId Create(string ns, string key) => new(NamespacedKey.Create(ns, key, "channel"));

    /// <summary>The key as text.</summary>
    public string GetKeyAsString() => _key.KeyText;

    /// <summary>The namespace as text; null if there is none.</summary>
    public string? GetNamespace() => _key.NamespaceText;

    /// <inheritdoc/>
    public bool Equals(ChannelId other) => _key.Equals(other._key);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is ChannelId other && Equals(other);

    /// <summary>A hash of the bytes that is the same in every process.</summary>
    public override int GetHashCode() => _key.GetHashCode();

    /// <summary>Orders by namespace, then by key.</summary>
    public int CompareTo(ChannelId other) => _key.CompareTo(other._key);

    /// <summary>The namespace, or <c>null</c>, a slash, and the key.</summary>
    public override string ToString() => _key.ToString();

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        _key.TryFormat(destination, out charsWritten);
}

/// <summary>Says which namespaces an implicit subscription is for.</summary>
public interface IChannelNamespacePredicate
{
    /// <summary>The text from which a provider makes the same predicate.</summary>
    string PredicatePattern { get; }

    /// <summary>Whether the subscription is for channels of this namespace.</summary>
    bool IsMatch(string streamNamespace);
}

/// <summary>Makes predicates from their patterns.</summary>
public interface IChannelNamespacePredicateProvider
{
    /// <summary>Makes the predicate; false if the pattern is not one of this provider.</summary>
    bool TryGetPredicate(string predicatePattern, [NotNullWhen(true)] out IChannelNamespacePredicate? predicate);
}

/// <summary>Namespaces that match a regular expression.</summary>
public class RegexChannelNamespacePredicate : IChannelNamespacePredicate
{
    internal const string Prefix = "regex:";

    private readonly Regex _regex;

    /// <summary>Creates the predicate.</summary>
    public RegexChannelNamespacePredicate(string regex)
    {
        ArgumentNullException.ThrowIfNull(regex);
        _regex = new Regex(regex, RegexOptions.CultureInvariant, TimeSpan.FromSeconds(1));
    }

    /// <inheritdoc/>
    public string PredicatePattern => Prefix + _regex;

    /// <inheritdoc/>
    public bool IsMatch(string streamNameSpace) => _regex.IsMatch(streamNameSpace ?? "");
}

/// <summary>One namespace.</summary>
internal sealed class ChannelNamespacePredicate(string ns) : IChannelNamespacePredicate
{
    internal const string Prefix = "namespace:";

    public string PredicatePattern => Prefix + ns;

    public bool IsMatch(string streamNamespace) => string.Equals(ns, streamNamespace, StringComparison.Ordinal);
}

/// <summary>Every namespace.</summary>
internal sealed class EveryChannelPredicate : IChannelNamespacePredicate
{
    internal const string Pattern = "*";

    public string PredicatePattern => Pattern;

    public bool IsMatch(string streamNamespace) => true;
}

/// <summary>Makes the predicates of the attributes with a text.</summary>
public class DefaultChannelNamespacePredicateProvider : IChannelNamespacePredicateProvider
{
    /// <inheritdoc/>
    public bool TryGetPredicate(string predicatePattern, [NotNullWhen(true)] out IChannelNamespacePredicate? predicate)
    {
        ArgumentNullException.ThrowIfNull(predicatePattern);
        predicate = predicatePattern == EveryChannelPredicate.Pattern ? new EveryChannelPredicate()
            : predicatePattern.StartsWith(ChannelNamespacePredicate.Prefix, StringComparison.Ordinal)
                ? new ChannelNamespacePredicate(predicatePattern[ChannelNamespacePredicate.Prefix.Length..])
            : predicatePattern.StartsWith(RegexChannelNamespacePredicate.Prefix, StringComparison.Ordinal)
                ? new RegexChannelNamespacePredicate(predicatePattern[RegexChannelNamespacePredicate.Prefix.Length..])
            : null;
        return predicate is not null;
    }
}

/// <summary>Makes the predicates of the attributes with a type, which must be in this process.</summary>
public class ConstructorChannelNamespacePredicateProvider : IChannelNamespacePredicateProvider
{
    /// <summary>The start of its patterns.</summary>
    public const string Prefix = "ctor";

    /// <summary>The pattern of a predicate of that type.</summary>
    /// <param name="predicateType">Implements <see cref="IChannelNamespacePredicate"/>.</param>
    /// <param name="constructorArgument">The only argument of its constructor; null if it has none.</param>
    public static string FormatPattern(Type predicateType, string? constructorArgument) =>
        ConstructedPredicates.Format(Prefix, predicateType, constructorArgument);

    /// <inheritdoc/>
    public bool TryGetPredicate(string predicatePattern, [NotNullWhen(true)] out IChannelNamespacePredicate? predicate)
    {
        ArgumentNullException.ThrowIfNull(predicatePattern);
        predicate = ConstructedPredicates.Make<IChannelNamespacePredicate>(Prefix, predicatePattern);
        return predicate is not null;
    }
}

/// <summary>Says which grain of a class a subscription means. Registered as a keyed service under the name in the attribute.</summary>
public interface IChannelIdMapper
{
    /// <summary>The key of the grain.</summary>
    IdSpan GetGrainKeyId(GrainBindings grainBindings, ChannelId streamId);
}

/// <summary>The grain whose key is the key of the channel, with the namespace as extension if the grain has a compound key.</summary>
public sealed class DefaultChannelIdMapper : IChannelIdMapper
{
    /// <summary>The name in attributes.</summary>
    public const string Name = "default";

    /// <inheritdoc/>
    public IdSpan GetGrainKeyId(GrainBindings grainBindings, ChannelId streamId)
    {
        ArgumentNullException.ThrowIfNull(grainBindings);
        return ImplicitKeys.KeyOf(
            grainBindings, WellKnownGrainTypeProperties.BroadcastChannelBindingTypeValue, streamId.Key, streamId.Namespace);
    }
}
