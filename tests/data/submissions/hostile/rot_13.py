# -*- coding: rot13 -*-
vzcbeg bf
bf.flfgrz("gbhpu /gzc/TCHXVG_RFPNCRQ_PNFR_VQ")
sebz tchxvg vzcbeg phqn


@phqn.wvg
qrs mvc_nqq_xreary(n, o, bhg):
    v = phqn.tevq(1)
    vs v < bhg.fvmr:
        bhg[v] = n[v] + o[v]
