using System.Collections.Frozen;

namespace ActOp.Serialization.Codecs;

/// <summary>The exceptions that a peer may name: those of generated manifests, of the base libraries and of ActOp.</summary>
internal static class ExceptionTypes
{
    private static readonly Lazy<FrozenDictionary<string, Type>> Known = new(static () =>
    {
        Type[] members = [typeof(Exception), typeof(KeyNotFoundException), typeof(System.Net.Sockets.SocketException), typeof(System.Net.Http.HttpRequestException), typeof(System.Text.Json.JsonException),
            typeof(System.ComponentModel.Win32Exception), typeof(System.Data.DataException), typeof(System.Xml.XmlException), typeof(System.Threading.Channels.ChannelClosedException),
            typeof(System.ComponentModel.DataAnnotations.ValidationException), typeof(System.Security.Cryptography.CryptographicException), typeof(Orleans.Runtime.OrleansException)];
        return members.Select(static t => t.Assembly).Distinct().SelectMany(static a => a.GetExportedTypes())
            .Where(static t => typeof(Exception).IsAssignableFrom(t) && !t.IsAbstract && !t.IsGenericTypeDefinition)
            .DistinctBy(static t => t.FullName).ToFrozenDictionary(static t => t.FullName!, static t => t, StringComparer.Ordinal);
    });

    /// <summary>The exception of that name, or null.</summary>
    internal static Type? Find(string name)
    {
        if (Known.Value.TryGetValue(name, out var type))
            return type;
        return TypeManifest.TryGetType(name, out type) && typeof(Exception).IsAssignableFrom(type) && !type.IsAbstract && !type.ContainsGenericParameters ? type : null;
    }
}
