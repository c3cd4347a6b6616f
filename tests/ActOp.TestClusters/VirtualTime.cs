namespace ActOp.TestClusters;

/// <summary>One silo whose clock stands still until a test moves it on.</summary>
public class VirtualTime() : ClusterFixture(1)
{
    public FakeClock Clock { get; } = new();

    /// <summary>How often the silo looks for activations to end.</summary>
    public TimeSpan Quantum { get; } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// How long the hooks of a grain may take at its begin, and at its end. An odd time, so that no periodic timer is due as late as its
    /// own.
    /// </summary>
    public static readonly TimeSpan HookTime = TimeSpan.FromMilliseconds(10_700);

    public IClusterClient Silo => ClientOf(0);

    protected override void Configure(InProcessTestClusterOptions options) => options.InitializeClientOnDeploy = false;

    protected override void ConfigureSilo(ISiloBuilder silo)
    {
        silo.Services.AddSingleton<TimeProvider>(Clock);
        silo.Configure<GrainCollectionOptions>(options =>
        {
            options.CollectionAge = TimeSpan.FromMinutes(5);
            options.CollectionQuantum = Quantum;
            options.ActivationTimeout = HookTime;
            options.DeactivationTimeout = HookTime;
        });
    }
}
