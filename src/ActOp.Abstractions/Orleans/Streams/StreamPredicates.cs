using System.Diagnostics.CodeAnalysis;
using System.Text.RegularExpressions;
using Orleans.Metadata;
using Orleans.Runtime;

namespace Orleans.Streams;

/// <summary>Says which namespaces an implicit subscription is for. Silos compare its pattern, so that must name it completely.</summary>
public interface IStreamNamespacePredicate
{
    /// <summary>The text from which a provider makes the same predicate.</summary>
    string PredicatePattern { get; }

    /// <summary>Whether the subscription is for streams of this namespace.</summary>
    bool IsMatch(string streamNamespace);
}

/// <summary>Makes predicates from their patterns.</summary>
public interface IStreamNamespacePredicateProvider
{
    /// <summary>Makes the predicate; false if the pattern is not one of this provider.</summary>
    bool TryGetPredicate(string predicatePattern, [NotNullWhen(true)] out IStreamNamespacePredicate? predicate);
}

/// <summary>Namespaces that match a regular expression.</summary>
public class RegexStreamNamespacePredicate : IStreamNamespacePredicate
{
    internal const string Prefix = "regex:";

    private readonly Regex _regex;

    /// <summary>Creates the predicate.</summary>
    public RegexStreamNamespacePredicate(string regex)
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
internal sealed class NamespacePredicate(string ns) : IStreamNamespacePredicate
{
    internal const string Prefix = "namespace:";

    public string PredicatePattern => Prefix + ns;

    public bool IsMatch(string streamNamespace) => string.Equals(ns, streamNamespace, StringComparison.Ordinal);
}

/// <summary>Every namespace.</summary>
internal sealed class EveryNamespacePredicate : IStreamNamespacePredicate
{
    internal const string Pattern = "*";

    public string PredicatePattern => Pattern;

    public bool IsMatch(string streamNamespace) => true;
}

/// <summary>Makes the predicates of the attributes with a text.</summary>
public class DefaultStreamNamespacePredicateProvider : IStreamNamespacePredicateProvider
{
    /// <inheritdoc/>
    public bool TryGetPredicate(string predicatePattern, [NotNullWhen(true)] out IStreamNamespacePredicate? predicate)
    {
        ArgumentNullException.ThrowIfNull(predicatePattern);
        predicate = predicatePattern == EveryNamespacePredicate.Pattern ? new EveryNamespacePredicate()
            : predicatePattern.StartsWith(NamespacePredicate.Prefix, StringComparison.Ordinal)
                ? new NamespacePredicate(predicatePattern[NamespacePredicate.Prefix.Length..])
            : predicatePattern.StartsWith(RegexStreamNamespacePredicate.Prefix, StringComparison.Ordinal)
                ? new RegexStreamNamespacePredicate(predicatePattern[RegexStreamNamespacePredicate.Prefix.Length..])
            : null;
        return predicate is not null;
    }
}

/// <summary>Makes the predicates of the attributes with a type, which must be in this process.</summary>
public class ConstructorStreamNamespacePredicateProvider : IStreamNamespacePredicateProvider
{
    /// <summary>The start of its patterns.</summary>
    public const string Prefix = "ctor";

    /// <summary>The pattern of a predicate of that type.</summary>
    /// <param name="predicateType">Implements <see cref="IStreamNamespacePredicate"/>.</param>
    /// <param name="constructorArgument">The only argument of its constructor; null if it has none.</param>
    public static string FormatPattern(Type predicateType, string? constructorArgument) =>
        ConstructedPredicates.Format(Prefix, predicateType, constructorArgument);

    /// <inheritdoc/>
    /// <exception cref="InvalidOperationException">The type of the pattern is in this process and no predicate.</exception>
    public bool TryGetPredicate(string predicatePattern, [NotNullWhen(true)] out IStreamNamespacePredicate? predicate)
    {
        ArgumentNullException.ThrowIfNull(predicatePattern);
        predicate = ConstructedPredicates.Make<IStreamNamespacePredicate>(Prefix, predicatePattern);
        return predicate is not null;
    }
}

/// <summary>Patterns that name a type and the argument of its constructor.</summary>
internal static class ConstructedPredicates
{
    internal static string Format(string prefix, Type type, string? argument)
    {
        ArgumentNullException.ThrowIfNull(type);
        return prefix + ":" + type.FullName + ", " + type.Assembly.GetName().Name + (argument is null ? "" : ":" + argument);
    }

    /// <summary>Null if the pattern has another prefix, or its type is not in this process.</summary>
    /// <exception cref="InvalidOperationException">The type is not of the wanted kind.</exception>
    internal static T? Make<T>(string prefix, string pattern)
        where T : class
    {
        if (!pattern.StartsWith(prefix + ":", StringComparison.Ordinal))
            return null;
        var parts = pattern.Split(':', 3);
        // The pattern comes from the manifest of a silo: only types of the application that are predicates may be made.
        if (Type.GetType(parts[1], throwOnError: false) is not { } type)
            return null;
        if (!typeof(T).IsAssignableFrom(type))
            throw new InvalidOperationException("The type " + type + " of the pattern " + pattern + " is not a " + typeof(T).Name + ".");
        return (T?)(parts.Length == 3 ? Activator.CreateInstance(type, parts[2]) : Activator.CreateInstance(type));
    }
}

/// <summary>
/// Says which grain of a class an implicit subscription means. Registered as a keyed service under the name in the attribute.
/// </summary>
public interface IStreamIdMapper
{
    /// <summary>The key of the grain.</summary>
    IdSpan GetGrainKeyId(GrainBindings grainBindings, StreamId streamId);
}

/// <summary>The grain whose key is the key of the stream, with the namespace as extension if the grain has a compound key.</summary>
public sealed class DefaultStreamIdMapper : IStreamIdMapper
{
    /// <summary>The name in attributes.</summary>
    public const string Name = "default";

    /// <inheritdoc/>
    public IdSpan GetGrainKeyId(GrainBindings grainBindings, StreamId streamId)
    {
        ArgumentNullException.ThrowIfNull(grainBindings);
        return ImplicitKeys.KeyOf(grainBindings, WellKnownGrainTypeProperties.StreamBindingTypeValue, streamId.Key, streamId.Namespace);
    }
}

/// <summary>Keys of grains with implicit subscriptions.</summary>
internal static class ImplicitKeys
{
    internal static IdSpan KeyOf(GrainBindings bindings, string kind, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> ns)
    {
        var includesNamespace = false;
        foreach (var binding in bindings.Bindings)
        {
            includesNamespace |= binding.GetValueOrDefault(WellKnownGrainTypeProperties.BindingTypeKey) == kind
                && binding.GetValueOrDefault(WellKnownGrainTypeProperties.StreamBindingIncludeNamespaceKey) == "true";
        }

        return new IdSpan(includesNamespace && !ns.IsEmpty ? [.. key.Span, (byte)'+', .. ns.Span] : key.ToArray());
    }

    /// <summary>Whether the key of the class has an extension.</summary>
    internal static bool IncludesNamespace(Type grainClass) =>
        typeof(IGrainWithGuidCompoundKey).IsAssignableFrom(grainClass) || typeof(IGrainWithIntegerCompoundKey).IsAssignableFrom(grainClass);
}

/// <summary>The stream that a grain with an implicit subscription is for.</summary>
public static class ImplicitConsumerGrainExtensions
{
    /// <summary>The key of the grain, and its extension as the namespace.</summary>
    public static StreamIdentity GetImplicitStreamIdentity(this IGrainWithGuidCompoundKey grain)
    {
        var key = grain.GetPrimaryKey(out var extension);
        return new StreamIdentity(key, extension);
    }
}
