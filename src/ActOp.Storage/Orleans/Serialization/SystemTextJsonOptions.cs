using System.Text.Json;
using ActOp.Storage;
using Microsoft.Extensions.Options;
using Orleans.GrainReferences;

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

/// <summary>Lets states as JSON contain references to grains. Every silo has it among its services.</summary>
public sealed class SystemTextJsonSerializerOptionsConfigure : IPostConfigureOptions<SystemTextJsonGrainStorageSerializerOptions>
{
    private readonly GrainReferenceActivator _references;

    /// <summary>Creates the step.</summary>
    public SystemTextJsonSerializerOptionsConfigure(GrainReferenceActivator grainReferenceActivator) =>
        _references = grainReferenceActivator;

    /// <inheritdoc/>
    public void PostConfigure(string? name, SystemTextJsonGrainStorageSerializerOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (!options.JsonSerializerOptions.Converters.Any(static converter => converter is GrainReferenceJson))
            options.JsonSerializerOptions.Converters.Add(new GrainReferenceJson(_references));
    }
}
