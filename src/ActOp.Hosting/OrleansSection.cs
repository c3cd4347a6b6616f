using System.Net;
using System.Reflection;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Providers;
using Orleans.Runtime;

namespace ActOp.Hosting;

/// <summary>
/// The configuration section <c>Orleans</c>: cluster and service id, name and endpoints of a silo, options of messages, and providers by
/// their names. What the application sets in code afterwards has precedence.
/// </summary>
/// <remarks>
/// Holds nothing. Runs while the host is composed. A provider name that nobody has registered fails with an
/// <see cref="InvalidOperationException"/> as in Orleans, and an address that cannot be parsed with an
/// <see cref="OrleansConfigurationException"/>; both name the key.
/// </remarks>
internal static class OrleansSection
{
    private const string Section = "Orleans";

    /// <summary>Kinds of which there is one provider, and kinds whose providers have names.</summary>
    private static readonly (string Kind, bool IsNamed)[] Kinds =
    [
        ("Clustering", false), ("Reminders", false), ("GrainStorage", true), ("GrainDirectory", true), ("Streaming", true),
        ("BroadcastChannel", true), ("GrainJournaling", true),
    ];

    internal static void Apply(ISiloBuilder silo)
    {
        var section = silo.Configuration.GetSection(Section);
        if (!section.Exists())
            return;
        silo.Services.AddOptions<SiloOptions>().Bind(section);
        silo.Services.AddOptions<SiloMessagingOptions>().Bind(section.GetSection("Messaging"));
        var endpoints = section.GetSection("Endpoints");
        if (endpoints.Exists())
            silo.Configure<EndpointOptions>(options => Bind(options, endpoints));
        ApplyProviders(silo, section, "Silo", (kind, name, settings) =>
        {
            if (kind != "Clustering" || !Is(name, "Development"))
                return false;
            silo.UseDevelopmentClustering(EndPointIn(settings, nameof(DevelopmentClusterMembershipOptions.PrimarySiloEndpoint)));
            return true;
        });
    }

    internal static void Apply(IClientBuilder client)
    {
        var section = client.Configuration.GetSection(Section);
        if (!section.Exists())
            return;
        client.Services.AddOptions<ClientMessagingOptions>().Bind(section.GetSection("Messaging"));
        client.Services.AddOptions<GatewayOptions>().Bind(section.GetSection("Gateway"));
        ApplyProviders(client, section, "Client", (kind, name, settings) =>
        {
            var isDevelopment = Is(name, "Development");
            if (kind != "Clustering" || !(isDevelopment || Is(name, "Static")))
                return false;
            var gateways = settings.GetSection(nameof(StaticGatewayListProviderOptions.Gateways));
            if (isDevelopment && !gateways.Exists())
            {
                client.UseStaticClustering(new IPEndPoint(IPAddress.Loopback, EndpointOptions.DEFAULT_GATEWAY_PORT));
                return true;
            }

            client.UseStaticClustering((StaticGatewayListProviderOptions options) => options.Gateways =
                [.. gateways.GetChildren().Select(static gateway => GatewayOf(gateway))]);
            return true;
        });
    }

    private static void Bind(EndpointOptions options, IConfigurationSection section)
    {
        if (section[nameof(options.AdvertisedIPAddress)] is { Length: > 0 } address)
        {
            options.AdvertisedIPAddress = IPAddress.TryParse(address, out var parsed)
                ? parsed
                : throw Wrong(section.GetSection(nameof(options.AdvertisedIPAddress)), "an IP address");
        }

        options.SiloPort = PortIn(section, nameof(options.SiloPort)) ?? options.SiloPort;
        options.GatewayPort = PortIn(section, nameof(options.GatewayPort)) ?? options.GatewayPort;
        options.SiloListeningEndpoint = EndPointIn(section, nameof(options.SiloListeningEndpoint)) ?? options.SiloListeningEndpoint;
        options.GatewayListeningEndpoint = EndPointIn(section, nameof(options.GatewayListeningEndpoint))
            ?? options.GatewayListeningEndpoint;
    }

    private static void ApplyProviders<TBuilder>(
        TBuilder builder, IConfigurationSection section, string target, Func<string, string, IConfigurationSection, bool> tryBuiltIn)
    {
        foreach (var (kind, isNamed) in Kinds)
        {
            foreach (var settings in isNamed ? section.GetSection(kind).GetChildren() : [section.GetSection(kind)])
            {
                if (settings["ProviderType"] is not { Length: > 0 } type || tryBuiltIn(kind, type, settings))
                    continue;
                var provider = Registered(kind, type, target) ?? throw NotFound(settings, kind, type, target);
                ((IProviderBuilder<TBuilder>)Activator.CreateInstance(provider)!).Configure(builder, isNamed
                    ? settings.Key : null, settings);
            }
        }
    }

    /// <summary>
    /// The class that an assembly has registered with <see cref="RegisterProviderAttribute"/>. An application that names a provider only in
    /// its configuration has not loaded the package that has it.
    /// </summary>
    private static Type? Registered(string kind, string name, string target)
    {
        return RegisteredIn(AppDomain.CurrentDomain.GetAssemblies()) ?? RegisteredIn(Packages());

        Type? RegisteredIn(IEnumerable<Assembly> assemblies) =>
            In(assemblies, kind, target).FirstOrDefault(provider => Is(provider.Name, name))?.Type;
    }

    private static IEnumerable<RegisterProviderAttribute> In(IEnumerable<Assembly> assemblies, string kind, string target) => assemblies
        .SelectMany(static assembly => assembly.GetCustomAttributes<RegisterProviderAttribute>())
        .Where(provider => Is(provider.Kind, kind) && Is(provider.Target, target));

    /// <summary>The words of Orleans, because its users search for them; then the key and what there is.</summary>
    private static InvalidOperationException NotFound(IConfigurationSection settings, string kind, string name, string target)
    {
        var known = In([.. AppDomain.CurrentDomain.GetAssemblies().Union(Packages())], kind, target)
            .Select(static provider => provider.Name);
        if (kind == "Clustering")
            known = known.Concat(target == "Silo" ? ["Development"] : ["Development", "Static"]);
        return new InvalidOperationException(
            "Could not find " + kind + " provider named '" + name + "' (" + settings.Path + ":ProviderType)."
            + " This can indicate that either the 'Microsoft.Orleans.Sdk' or the provider's package are not referenced by your application"
            + " (here: ActOp.Server or ActOp.Client, or the provider's own). Known " + kind + " providers of a " + target.ToLowerInvariant()
            + ": " + string.Join(
                ", ", known.Distinct(StringComparer.OrdinalIgnoreCase).Order(StringComparer.Ordinal).DefaultIfEmpty("none")) + ".");
    }

    /// <summary>Our packages that the application has, loaded or not.</summary>
    private static IEnumerable<Assembly> Packages() => ((AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES") as string) ?? "")
        .Split(Path.PathSeparator)
        .Select(static path => Path.GetFileNameWithoutExtension(path))
        .Where(static file => file.StartsWith("ActOp.", StringComparison.Ordinal))
        .Select(static file => Assembly.Load(new AssemblyName(file)));

    private static bool Is(string one, string other) => string.Equals(one, other, StringComparison.OrdinalIgnoreCase);

    private static int? PortIn(IConfigurationSection section, string key) => section[key] is not { Length: > 0 } text ? null
        : int.TryParse(text, out var port) && port is >= 0 and <= 65_535 ? port : throw Wrong(section.GetSection(key), "a port");

    private static IPEndPoint? EndPointIn(IConfigurationSection section, string key) => section[key] is not { Length: > 0 } text ? null
        : IPEndPoint.TryParse(text, out var endPoint) && endPoint.Port > 0
        ? endPoint : throw Wrong(section.GetSection(key), "address:port");

    /// <summary>A gateway is a URI, or host and port.</summary>
    private static Uri GatewayOf(IConfigurationSection gateway) =>
        Uri.TryCreate(gateway.Value, UriKind.Absolute, out var uri) && uri.Port > 0 ? uri
        : Uri.TryCreate("gwy.tcp://" + gateway.Value + "/0", UriKind.Absolute, out uri) && uri.Port > 0 ? uri
        : throw Wrong(gateway, "gwy.tcp://host:port/0 or host:port");

    private static OrleansConfigurationException Wrong(IConfigurationSection section, string rule) =>
        new(section.Path + " must be " + rule + ", but is " + section.Value + ".");
}
