using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Orleans.Configuration;

/// <summary>Which options a silo or client logs when it starts, and how they look there.</summary>
public static class OptionConfigureExtensionMethods
{
    /// <summary>Logs options without a name, a line for each property.</summary>
    public static IServiceCollection ConfigureFormatter<TOptions>(this IServiceCollection services)
        where TOptions : class, new() =>
        services.ConfigureFormatter<TOptions, DefaultFormatter<TOptions>>();

    /// <summary>Logs options without a name by a formatter of the application.</summary>
    public static IServiceCollection ConfigureFormatter<TOptions, TOptionFormatter>(this IServiceCollection services)
        where TOptions : class
        where TOptionFormatter : class, IOptionFormatter<TOptions> =>
        services.AddSingleton<IOptionFormatter<TOptions>, TOptionFormatter>()
            .AddSingleton<IOptionFormatter>(static provider => provider.GetRequiredService<IOptionFormatter<TOptions>>());

    /// <summary>Sets what formats named options.</summary>
    public static IServiceCollection ConfigureFormatterResolver<TOptions, TOptionFormatterResolver>(this IServiceCollection services)
        where TOptions : class
        where TOptionFormatterResolver : class, IOptionFormatterResolver<TOptions> =>
        services.AddSingleton<IOptionFormatterResolver<TOptions>, TOptionFormatterResolver>();

    /// <summary>Logs the options of a name.</summary>
    public static IServiceCollection ConfigureNamedOptionForLogging<TOptions>(this IServiceCollection services, string name)
        where TOptions : class
    {
        services.TryAddSingleton<IOptionFormatterResolver<TOptions>, DefaultFormatterResolver<TOptions>>();
        return services.AddSingleton<IOptionFormatter>(
            provider => provider.GetRequiredService<IOptionFormatterResolver<TOptions>>().Resolve(name));
    }

    /// <summary>As <see cref="ConfigureFormatter{TOptions, TOptionFormatter}"/>, unless these options have a formatter.</summary>
    public static IServiceCollection TryConfigureFormatter<TOptions, TOptionFormatter>(this IServiceCollection services)
        where TOptions : class
        where TOptionFormatter : class, IOptionFormatter<TOptions> =>
        services.All(static service => service.ServiceType != typeof(IOptionFormatter<TOptions>))
            ? services.ConfigureFormatter<TOptions, TOptionFormatter>()
            : services;

    /// <summary>As <see cref="ConfigureFormatterResolver"/>, unless these options have one.</summary>
    public static IServiceCollection TryConfigureFormatterResolver<TOptions, TOptionFormatterResolver>(this IServiceCollection services)
        where TOptions : class
        where TOptionFormatterResolver : class, IOptionFormatterResolver<TOptions>
    {
        services.TryAddSingleton<IOptionFormatterResolver<TOptions>, TOptionFormatterResolver>();
        return services;
    }
}
