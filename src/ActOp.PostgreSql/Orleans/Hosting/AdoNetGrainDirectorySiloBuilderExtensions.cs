using ActOp.PostgreSql.Directory;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.GrainDirectory;
using Orleans.GrainDirectory.AdoNet;
using Orleans.Runtime.Hosting;

namespace Orleans.Hosting;

/// <summary>Adds a grain directory in PostgreSQL.</summary>
public static class AdoNetGrainDirectorySiloBuilderExtensions
{
    /// <summary>The directory of all grains whose class names no other one.</summary>
    public static ISiloBuilder UseAdoNetGrainDirectoryAsDefault(
        this ISiloBuilder builder, Action<AdoNetGrainDirectoryOptions> configureOptions) =>
        builder.AddAdoNetGrainDirectory(GrainDirectoryAttribute.DEFAULT_GRAIN_DIRECTORY, configureOptions);

    /// <summary>The directory of all grains whose class names no other one.</summary>
    public static ISiloBuilder UseAdoNetGrainDirectoryAsDefault(
        this ISiloBuilder builder, Action<OptionsBuilder<AdoNetGrainDirectoryOptions>> configureOptions) =>
            builder.AddAdoNetGrainDirectory(GrainDirectoryAttribute.DEFAULT_GRAIN_DIRECTORY, configureOptions);

    /// <summary>The directory of the grains whose class names it (<see cref="GrainDirectoryAttribute"/>).</summary>
    public static ISiloBuilder AddAdoNetGrainDirectory(
        this ISiloBuilder builder, string name, Action<AdoNetGrainDirectoryOptions> configureOptions) =>
            builder.AddAdoNetGrainDirectory(
                name, (OptionsBuilder<AdoNetGrainDirectoryOptions> options) => options.Configure(configureOptions));

    /// <summary>The directory of the grains whose class names it (<see cref="GrainDirectoryAttribute"/>).</summary>
    public static ISiloBuilder AddAdoNetGrainDirectory(
        this ISiloBuilder builder, string name, Action<OptionsBuilder<AdoNetGrainDirectoryOptions>> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(configureOptions);
        configureOptions(builder.Services.AddOptions<AdoNetGrainDirectoryOptions>(name));
        return builder.AddGrainDirectory(name, PostgresGrainDirectory.Create);
    }
}
