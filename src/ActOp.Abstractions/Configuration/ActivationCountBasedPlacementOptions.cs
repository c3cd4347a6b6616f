namespace Orleans.Configuration;

/// <summary>Placement by number of activations.</summary>
public class ActivationCountBasedPlacementOptions
{
    /// <summary>The default of <see cref="ChooseOutOf"/>.</summary>
    public const int DEFAULT_ACTIVATION_COUNT_PLACEMENT_CHOOSE_OUT_OF = 2;

    /// <summary>How many silos, chosen at random, are compared. Default: 2.</summary>
    public int ChooseOutOf { get; set; } = DEFAULT_ACTIVATION_COUNT_PLACEMENT_CHOOSE_OUT_OF;
}
