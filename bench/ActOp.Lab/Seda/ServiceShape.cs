namespace ActOp.Lab.Seda;

/// <summary>How the times of a stage scatter around their mean.</summary>
internal enum ServiceShape
{
    /// <summary>As equation (1) of the paper assumes.</summary>
    Exponential,

    /// <summary>All alike.</summary>
    Deterministic,

    /// <summary>A heavy tail: the largest one in a hundred is eleven times the mean.</summary>
    Lognormal,

    /// <summary>Many short ones and a few long ones, both exponential.</summary>
    Hyperexponential,
}
