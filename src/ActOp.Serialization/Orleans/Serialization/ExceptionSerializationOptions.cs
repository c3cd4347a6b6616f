namespace Orleans.Serialization;

/// <summary>
/// Which exceptions without a codec of their own are read with their types; others are read as
/// <see cref="UnavailableExceptionFallbackException"/>. While an application has not changed the options, exceptions of grain calls need no
/// such permission: their types are found among those that both sides have. <c>ExceptionCodec</c> always follows the options.
/// </summary>
public class ExceptionSerializationOptions
{
    private static readonly string[] Usual = ["Microsoft", "System", "Azure"];
    private static readonly Func<Type, bool> NoOthers = static _ => false;

    /// <summary>Beginnings of the namespaces of such exceptions.</summary>
    public HashSet<string> SupportedNamespacePrefixes { get; } = new(Usual, StringComparer.Ordinal);

    /// <summary>True for further exceptions.</summary>
    public Func<Type, bool> SupportedExceptionTypeFilter { get; set; } = NoOthers;

    internal bool IsUnchanged => ReferenceEquals(SupportedExceptionTypeFilter, NoOthers) && SupportedNamespacePrefixes.SetEquals(Usual);

    internal bool Supports(Type type) => SupportedExceptionTypeFilter(type) || (type.Namespace is { } space
        && SupportedNamespacePrefixes.Any(prefix => space.StartsWith(prefix, StringComparison.Ordinal)));
}
