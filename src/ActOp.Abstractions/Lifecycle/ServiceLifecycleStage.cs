namespace Orleans;

/// <summary>Stages of the start of a silo or a client, in ascending order; it ends in descending order.</summary>
public static class ServiceLifecycleStage
{
    /// <summary>Before all others.</summary>
    public const int First = int.MinValue;

    /// <summary>The runtime sets itself up.</summary>
    public const int RuntimeInitialize = 2000;

    /// <summary>The runtime's services start.</summary>
    public const int RuntimeServices = 4000;

    /// <summary>Storage gets ready.</summary>
    public const int RuntimeStorageServices = 6000;

    /// <summary>Services that are called like grains get ready.</summary>
    public const int RuntimeGrainServices = 8000;

    /// <summary>After <see cref="RuntimeGrainServices"/>.</summary>
    public const int AfterRuntimeGrainServices = 8100;

    /// <summary>The application's services start.</summary>
    public const int ApplicationServices = 10000;

    /// <summary>The silo checks that it reaches the others.</summary>
    public const int ValidateInitialConnectivity = 19900;

    /// <summary>On the way down: the directory is handed over.</summary>
    public const int GrainDirectoryShutdown = 19997;

    /// <summary>On the way down: activations end.</summary>
    public const int GrainDeactivation = 19998;

    /// <summary>The silo joins the cluster.</summary>
    public const int BecomeActive = 19999;

    /// <summary>Grains can be called.</summary>
    public const int Active = 20000;

    /// <summary>After all others.</summary>
    public const int Last = int.MaxValue;
}
