using ActOp.Serialization.Codecs;

namespace ActOp.Serialization;

/// <summary>Makes codecs of collection interfaces.</summary>
internal static class CollectionInterfaces
{
    private static readonly HashSet<Type> Lists = [typeof(IEnumerable<>), typeof(IReadOnlyCollection<>), typeof(IReadOnlyList<>), typeof(ICollection<>), typeof(IList<>)];
    private static readonly HashSet<Type> Sets = [typeof(ISet<>), typeof(IReadOnlySet<>)];
    private static readonly HashSet<Type> Maps = [typeof(IDictionary<,>), typeof(IReadOnlyDictionary<,>)];

    internal static object? TryMake(Type type)
    {
        if (!type.IsInterface || !type.IsConstructedGenericType)
            return null;
        var definition = type.GetGenericTypeDefinition();
        var arguments = type.GetGenericArguments();
        if (Lists.Contains(definition))
            return CodecTable.Make(typeof(ListInterfaceCodec<,>), [type, .. arguments]);
        if (Sets.Contains(definition))
            return CodecTable.Make(typeof(SetInterfaceCodec<,>), [type, .. arguments]);
        return Maps.Contains(definition) ? CodecTable.Make(typeof(MapInterfaceCodec<,,>), [type, .. arguments]) : null;
    }
}
