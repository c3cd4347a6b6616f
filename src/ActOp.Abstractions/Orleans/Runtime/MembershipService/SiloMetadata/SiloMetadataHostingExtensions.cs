using Microsoft.Extensions.Configuration;
using Orleans.Configuration;
using Orleans.Hosting;

namespace Orleans.Runtime.MembershipService.SiloMetadata;

/// <summary>Sets the metadata of a silo, which it tells the other silos when it joins.</summary>
public static class SiloMetadataHostingExtensions
{
    /// <summary>Takes the metadata from the section <c>Orleans:Metadata</c> of the silo's configuration.</summary>
    /// <remarks>As environment variables: <c>ORLEANS__METADATA__zone=1</c>.</remarks>
    public static ISiloBuilder UseSiloMetadata(this ISiloBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.UseSiloMetadata(builder.Configuration);
    }

    /// <summary>Takes the metadata from the section <c>Orleans:Metadata</c> of a configuration.</summary>
    public static ISiloBuilder UseSiloMetadata(this ISiloBuilder builder, IConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        return builder.UseSiloMetadata(configuration.GetSection("Orleans").GetSection("Metadata"));
    }

    /// <summary>Takes the metadata from a section: its keys and their values.</summary>
    public static ISiloBuilder UseSiloMetadata(this ISiloBuilder builder, IConfigurationSection configurationSection)
    {
        ArgumentNullException.ThrowIfNull(configurationSection);
        var metadata = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (var child in configurationSection.GetChildren())
        {
            if (child.Value is { } value)
                metadata[child.Key] = value;
        }

        return builder.UseSiloMetadata(metadata);
    }

    /// <summary>Sets the metadata.</summary>
    public static ISiloBuilder UseSiloMetadata(this ISiloBuilder builder, Dictionary<string, string> metadata)
    {
        ArgumentNullException.ThrowIfNull(metadata);
        return builder.Configure<SiloMetadataOptions>(options =>
        {
            foreach (var (key, value) in metadata)
                options.Metadata[key] = value;
        });
    }
}
