using System.Collections.Immutable;
using ActOp.TestClusters;
using Orleans.Metadata;
using Orleans.Placement;

namespace ActOp.Surface.Tests.InnerParts;

/// <summary>The parts that make the objects of grains and what the activations of a class share.</summary>
public class ActivationPartTests(ActivationPartTests.Configured cluster) : IClassFixture<ActivationPartTests.Configured>
{
    private IServiceProvider Silo => cluster.Cluster.Silos[0].ServiceProvider;

    [Fact]
    public async Task The_shared_context_of_a_class_is_the_one_that_its_activations_use()
    {
        var grain = cluster.Client.GetGrain<IContextPart>("shared");
        Assert.Equal("component of contextpart", await grain.Component());
        var shared = Silo.GetRequiredService<GrainTypeSharedContextResolver>().GetComponents(grain.GetGrainId().Type);
        Assert.Equal("component of contextpart", shared.GetComponent<SharedPart>()!.Text);
        Assert.IsType<DefaultGrainActivator>(shared.GetComponent<IGrainActivator>());
        Assert.Equal(typeof(ContextPartGrain).FullName, shared.GrainTypeName);
        Assert.Equal(TimeSpan.FromMinutes(7), shared.CollectionAgeLimit);
        Assert.Equal(TimeSpan.FromSeconds(11), shared.MaxWarningRequestProcessingTime);
        Assert.Equal(shared.MessagingOptions.MaxRequestProcessingTime, shared.MaxRequestProcessingTime);
        Assert.IsType<HashBasedPlacement>(shared.PlacementStrategy);
        Assert.Null(shared.GrainDirectory);
        Assert.Same(Silo.GetRequiredService<IGrainRuntime>(), shared.Runtime);
        Assert.NotNull(shared.SerializerSessionPool);
        Assert.NotNull(shared.SchedulingOptions);
        Assert.NotNull(shared.Logger);
        var reference = shared.GrainReferenceActivator.CreateReference(grain.GetGrainId(), default);
        Assert.Equal(grain.GetGrainId(), reference.GrainId);
    }

    [Fact]
    public void A_shared_context_is_made_of_its_parts_and_needs_a_class()
    {
        var type = GrainType.Create("made-of-parts");
        var map = new GrainClassMap(null!, ImmutableDictionary<GrainType, Type>.Empty.Add(type, typeof(ContextPartGrain)));
        var shared = Make(type);
        Assert.Equal(typeof(ContextPartGrain).FullName, shared.GrainTypeName);
        Assert.Equal(TimeSpan.FromMinutes(9), shared.CollectionAgeLimit);
        Assert.Throws<KeyNotFoundException>(() => Make(GrainType.Create("none")));
        Assert.ThrowsAny<Exception>(() => Silo.GetRequiredService<GrainTypeSharedContextResolver>().GetComponents(type));

        GrainTypeSharedContext Make(GrainType of) => new(
            of, Silo.GetRequiredService<IClusterManifestProvider>(), map,
            Silo.GetRequiredService<Orleans.Runtime.Placement.PlacementStrategyResolver>(), Options(new SiloMessagingOptions()),
            Options(new GrainCollectionOptions { CollectionAge = TimeSpan.FromMinutes(9) }), Options(new SchedulingOptions()),
            Silo.GetRequiredService<IGrainRuntime>(), Silo.GetRequiredService<Microsoft.Extensions.Logging.ILoggerFactory>(),
            Silo.GetRequiredService<Orleans.GrainReferences.GrainReferenceActivator>(), Silo,
            Silo.GetRequiredService<Orleans.Serialization.Session.SerializerSessionPool>());

        static Microsoft.Extensions.Options.IOptions<T> Options<T>(T value)
            where T : class => Microsoft.Extensions.Options.Options.Create(value);
    }

    [Fact]
    public async Task An_activator_may_leave_the_making_of_the_object_to_the_default_one()
    {
        await using var wrapped = await TestSilos.StartAsync(
            1,
            static silo => silo.Services.AddSingleton<IConfigureGrainTypeComponents, Wrapping>());
        var grain = wrapped.Client.GetGrain<IContextPart>("wrapped");
        Assert.Equal("wrapped", await grain.Key());
        Assert.Equal(1, WrappingActivator.Made);
        await wrapped.Client.GetGrain<IPlainPart>("not wrapped").Touch();
        Assert.Equal(1, WrappingActivator.Made);
    }

    [Fact]
    public async Task The_arguments_of_a_constructor_are_facets_and_the_activation()
    {
        var arguments = new GrainConstructorArgumentFactory(Silo, typeof(ContextPartGrain));
        Assert.Equal([typeof(IGrainContext)], arguments.ArgumentTypes);
        Assert.Empty(new GrainConstructorArgumentFactory(Silo, typeof(PlainPartGrain)).ArgumentTypes);
        Assert.Empty(new GrainConstructorArgumentFactory(Silo, typeof(PlainPartGrain)).CreateArguments(null!));
        Assert.Equal(["context"], await cluster.Client.GetGrain<IContextPart>("arguments").Arguments());
    }

    [Fact]
    public void Activations_of_providers_are_configured_before_they_are_used()
    {
        var provider = new Contexts();
        var activator = new GrainContextActivator([provider], [new Configuring()],
            new GrainPropertiesResolver(Silo.GetRequiredService<IClusterManifestProvider>()));
        var address = new GrainAddress { GrainId = GrainId.Create("foreign", "1") };
        activator.CreateInstance(address);
        activator.CreateInstance(address);
        Assert.Equal([(address, 1), (address, 1)], provider.Made);
        Assert.Throws<InvalidOperationException>(
            () => activator.CreateInstance(new GrainAddress { GrainId = GrainId.Create("unknown", "1") }));
    }

    [Fact]
    public async Task A_silo_refuses_a_service_that_would_make_its_activations()
    {
        var failure = await Assert.ThrowsAnyAsync<Exception>(() => TestSilos.StartAsync(
            1,
            static silo => silo.Services.AddSingleton<IGrainContextActivatorProvider, Contexts>()));
        Assert.Contains(nameof(Contexts), failure.ToString(), StringComparison.Ordinal);
        Assert.Contains(nameof(IConfigureGrainContextProvider), failure.ToString(), StringComparison.Ordinal);
    }

    public sealed class Configured() : ClusterFixture(1)
    {
        protected override void ConfigureSilo(ISiloBuilder silo)
        {
            silo.Services.AddSingleton<IConfigureGrainTypeComponents, Sharing>();
            silo.Configure<GrainCollectionOptions>(options =>
                options.ClassSpecificCollectionAge[typeof(ContextPartGrain).FullName!] = TimeSpan.FromMinutes(7));
            silo.Configure<SiloMessagingOptions>(options => options.RequestProcessingWarningTime = TimeSpan.FromSeconds(11));
        }
    }

    private sealed class Sharing : IConfigureGrainTypeComponents
    {
        public void Configure(GrainType grainType, GrainProperties properties, GrainTypeSharedContext shared) =>
            shared.SetComponent(new SharedPart("component of " + grainType));
    }

    private sealed class Wrapping(IServiceProvider services, GrainClassMap classes) : IConfigureGrainTypeComponents
    {
        public void Configure(GrainType grainType, GrainProperties properties, GrainTypeSharedContext shared)
        {
            if (classes.TryGetGrainClass(grainType, out var grainClass) && grainClass == typeof(ContextPartGrain))
                shared.SetComponent<IGrainActivator>(new WrappingActivator(new DefaultGrainActivator(services, grainClass)));
        }
    }

    private sealed class WrappingActivator(DefaultGrainActivator inner) : IGrainActivator
    {
        public static int Made { get; private set; }

        public object CreateInstance(IGrainContext context)
        {
            Made++;
            return inner.CreateInstance(context);
        }

        public ValueTask DisposeInstance(IGrainContext context, object instance) => inner.DisposeInstance(context, instance);
    }

    private sealed class Contexts : IGrainContextActivatorProvider, IGrainContextActivator
    {
        public List<(GrainAddress, int)> Made { get; } = [];

        public bool TryGet(GrainType grainType, out IGrainContextActivator? activator)
        {
            activator = this;
            return grainType.ToString() == "foreign";
        }

        public IGrainContext CreateContext(GrainAddress address, IConfigureGrainContext[] configureActions)
        {
            Made.Add((address, configureActions.Length));
            return null!;
        }
    }

    private sealed class Configuring : IConfigureGrainContextProvider, IConfigureGrainContext
    {
        public bool TryGetConfigurator(GrainType grainType, GrainProperties properties, out IConfigureGrainContext? configurator)
        {
            configurator = this;
            return properties is not null;
        }

        public void Configure(IGrainContext context)
        {
        }
    }
}

public sealed record SharedPart(string Text);

public interface IContextPart : IGrainWithStringKey
{
    Task<string?> Component();

    Task<string> Key();

    Task<string[]> Arguments();
}

[HashBasedPlacement]
public sealed class ContextPartGrain(IGrainContext context) : IGrainBase, IContextPart
{
    public IGrainContext GrainContext => context;

    public Task<string?> Component() => Task.FromResult(context.GetComponent<SharedPart>()?.Text);

    public Task<string> Key() => Task.FromResult(context.GrainId.Key.ToString()!);

    public Task<string[]> Arguments()
    {
        var arguments = new GrainConstructorArgumentFactory(context.ActivationServices, GetType()).CreateArguments(context);
        return Task.FromResult(arguments.Select(one => ReferenceEquals(one, context) ? "context" : "other").ToArray());
    }
}
