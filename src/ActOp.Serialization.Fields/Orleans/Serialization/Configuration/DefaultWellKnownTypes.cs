using Microsoft.Extensions.Options;

namespace Orleans.Serialization.Configuration;

/// <summary>Numbers for the commonest types.</summary>
internal sealed class DefaultWellKnownTypes : IConfigureOptions<TypeManifestOptions>
{
    // The position in this list is the number in the data: append only. 0 is no type.
    private static readonly Type[] Types =
    [
        typeof(object), typeof(string), typeof(int), typeof(short), typeof(long), typeof(sbyte), typeof(uint), typeof(ushort),
        typeof(ulong),
        typeof(byte), typeof(float), typeof(double), typeof(decimal), typeof(char), typeof(Guid), typeof(DateTime), typeof(TimeSpan),
        typeof(System.Net.IPAddress), typeof(System.Net.IPEndPoint), typeof(System.Collections.Specialized.BitVector32),
        typeof(byte[]), typeof(Type), typeof(Int128), typeof(UInt128), typeof(Half), typeof(bool), typeof(DateOnly), typeof(TimeOnly),
        typeof(DateTimeOffset), typeof(Uri), typeof(Version), typeof(Exception),
    ];

    public void Configure(TypeManifestOptions options)
    {
        for (var i = 0; i < Types.Length; i++)
            options.WellKnownTypeIds.TryAdd((uint)i + 1, Types[i]);
        options.WellKnownTypeAliases.TryAdd("Exception", typeof(ExceptionCodec));
    }
}
