using System.Text.Json;
using ActOp.Runtime.State;

namespace Orleans.Serialization;

/// <summary>How <see cref="Storage.SystemTextJsonGrainStorageSerializer"/> writes states.</summary>
public sealed class SystemTextJsonGrainStorageSerializerOptions
{
    /// <summary>
    /// Fields, members with private setters, grain references and the derived classes that serialization knows are written and read. A
    /// class that is derived from a declared one and not known is an error. Not changed after the first use.
    /// </summary>
    public JsonSerializerOptions JsonSerializerOptions { get; } = StateJson.NewOptions();
}
